import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';

export interface SeenRecord {
  readonly topic: string;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

const textOf = (headers: kafkajs.IHeaders | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));

/** Hands over everything on these topics from the beginning, read by a client that is none of ours. Resolves with its end. */
export async function followTopics(
  brokers: readonly string[],
  topics: readonly string[],
  onRecord: (record: SeenRecord) => void,
): Promise<() => Promise<void>> {
  const kafka = new kafkajs.Kafka({
    clientId: 'test',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const groupId = `follow-${randomBytes(6).toString('hex')}`;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  await consumer.run({
    eachMessage: ({ topic, message }) => {
      onRecord({ topic, value: message.value, headers: textOf(message.headers) });
      return Promise.resolve();
    },
  });
  return () => consumer.disconnect();
}
