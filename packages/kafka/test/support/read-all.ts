import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { eventually, randomName } from '@webhooks/testkit';
import type { Kafka } from '../../src/index.js';

export interface SeenRecord {
  readonly partition: number;
  readonly offset: number;
  readonly key: string | undefined;
  readonly value: string | undefined;
  readonly headers: Record<string, string>;
}

/** At least `count` records of a topic as kafkajs' own consumer sees them: a reader that shares nothing with ours. */
export async function readAll(kafka: Kafka, topic: string, count: number): Promise<SeenRecord[]> {
  const client = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
  const consumer = client.consumer({ groupId: randomName('read-all'), maxWaitTimeInMs: 100 });
  const seen: SeenRecord[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: ({ partition, message }) => {
      const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]);
      seen.push({
        partition,
        offset: Number(message.offset),
        key: message.key?.toString(),
        value: message.value?.toString(),
        headers: Object.fromEntries(headers) as Record<string, string>,
      });
      return Promise.resolve();
    },
  });
  try {
    await eventually(() => seen.length >= count, {
      timeoutMs: 20_000,
      message: `${count} records of ${topic}`,
    });
  } finally {
    await consumer.disconnect();
  }
  return seen;
}
