import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { IHeaders } from 'kafkajs';
import { chaosKafka } from '../../world/kafka-tools.js';

/** One record as a client that is none of ours reads it. */
export interface Followed {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
}

export interface Following {
  /** Resolves when everything that stands on the topics now was handed over; rejects after 30 s. */
  untilEnd(): Promise<void>;
  close(): Promise<void>;
}

const END_DEADLINE_MS = 30_000;
const LOOK_MS = 50;
const MAX_BYTES = 8 * 1_048_576;

const placeOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** Hands over every record of these topics, from the first one on, until it is closed. */
export async function followRecords(
  brokers: readonly string[],
  topics: readonly string[],
  onRecord: (record: Followed) => void,
): Promise<Following> {
  const kafka = chaosKafka(brokers);
  const admin = kafka.admin();
  const consumer = kafka.consumer({
    groupId: `fuzz-${randomBytes(6).toString('hex')}`,
    maxWaitTimeInMs: 100,
    maxBytesPerPartition: MAX_BYTES,
  });
  const next = new Map<string, number>();
  await admin.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: ({ batch }) => {
      const { topic, partition, messages } = batch;
      for (const { key, value, offset, headers } of messages)
        onRecord({ topic, partition, offset: Number(offset), key, value, headers: headers ?? {} });
      next.set(placeOf(topic, partition), Number(batch.lastOffset()) + 1);
      return Promise.resolve();
    },
  });
  const isAtEnd = async (): Promise<boolean> => {
    for (const topic of topics)
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic))
        if (Math.max(Number(low), next.get(placeOf(topic, partition)) ?? 0) < Number(high)) return false;
    return true;
  };
  return {
    untilEnd: async () => {
      const deadline = performance.now() + END_DEADLINE_MS;
      while (!(await isAtEnd())) {
        if (performance.now() > deadline)
          throw new Error(`${topics.join(', ')} could not be read to the end`);
        await delay(LOOK_MS);
      }
    },
    close: async () => {
      await consumer.disconnect();
      await admin.disconnect();
    },
  };
}
