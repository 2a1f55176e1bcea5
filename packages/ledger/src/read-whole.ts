import { randomBytes } from 'node:crypto';
import type { Kafka, KafkaMessage } from 'kafkajs';

/** One record and where it stands. */
export interface FoundRecord {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** The last offset of each partition that holds anything. */
async function lastOffsets(kafka: Kafka, topics: readonly string[]): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const last = new Map<string, number>();
    for (const topic of topics) {
      const offsets = await admin.fetchTopicOffsets(topic);
      const filled = offsets.filter(({ low, high }) => Number(high) > Number(low));
      for (const { partition, high } of filled) last.set(keyOf(topic, partition), Number(high) - 1);
    }
    return last;
  } finally {
    await admin.disconnect();
  }
}

/**
 * Hands over every record that these topics hold now, each partition in order, with a group of its own that commits
 * nothing. Rejects when that takes longer than `deadlineMs`.
 */
export async function readWhole(
  kafka: Kafka,
  topics: readonly string[],
  onRecord: (record: FoundRecord) => void,
  deadlineMs: number,
): Promise<void> {
  const open = await lastOffsets(kafka, topics);
  if (open.size === 0) return;
  const consumer = kafka.consumer({
    groupId: `read-whole-${randomBytes(6).toString('hex')}`,
    maxWaitTimeInMs: 100,
  });
  await consumer.connect();
  const { promise: done, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(
    () => reject(new Error(`${[...open.keys()].join(', ')} could not be read in ${deadlineMs / 1_000} s`)),
    deadlineMs,
  );
  try {
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: ({ batch: { topic, partition, messages } }) => {
        const key = keyOf(topic, partition);
        const last = open.get(key) ?? -1;
        for (const message of messages)
          if (Number(message.offset) <= last) onRecord({ topic, partition, message });
        if (Number(messages.at(-1)?.offset ?? -1) >= last) open.delete(key);
        if (open.size === 0) resolve(undefined);
        return Promise.resolve();
      },
    });
    await done;
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
}
