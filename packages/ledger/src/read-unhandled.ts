import { eventually, randomName } from '@webhooks/testkit';
import type { Kafka, KafkaMessage } from 'kafkajs';
import { openSpans } from './open-spans.js';
import type { HandledPlace } from './open-spans.js';

/** One record and where it stands. */
export interface FoundRecord {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

/** Topics of a run of minutes are read in seconds, also beside a broker that works. */
const READ_MS = 120_000;

/**
 * Hands over every record that no group has handled, each partition in order, with a group of its own that commits nothing. Rejects
 * when that takes longer than two minutes.
 */
export async function readUnhandled(
  kafka: Kafka,
  place: HandledPlace,
  onRecord: (record: FoundRecord) => void,
): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  const spans = await openSpans(admin, place).finally(() => admin.disconnect());
  const open = new Map(spans.map((span) => [`${span.topic}/${span.partition}`, span]));
  if (open.size === 0) return;
  const consumer = kafka.consumer({ groupId: randomName('read-spans'), maxWaitTimeInMs: 100 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [...new Set(spans.map(({ topic }) => topic))], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: ({ batch: { topic, partition, messages } }) => {
        const { from, to } = open.get(`${topic}/${partition}`) ?? { from: 0, to: 0 };
        const isOpen = ({ offset }: KafkaMessage): boolean => Number(offset) >= from && Number(offset) < to;
        for (const message of messages.filter(isOpen)) onRecord({ topic, partition, message });
        if (Number(messages.at(-1)?.offset ?? -1) >= to - 1) open.delete(`${topic}/${partition}`);
        return Promise.resolve();
      },
    });
    await eventually(() => open.size === 0, { timeoutMs: READ_MS, message: 'the topics are read' });
  } finally {
    await consumer.disconnect();
  }
}
