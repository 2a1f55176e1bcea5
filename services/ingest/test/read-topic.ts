import { TOPICS } from '@webhooks/contracts';
import { testKafkaBrokers } from '@webhooks/local';
import { randomName } from '@webhooks/testkit';
import kafkajs from 'kafkajs';

export interface SeenRecord {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads `payments.events` from its beginning, with a client that is none of ours. */
export async function readEvents(brokers = testKafkaBrokers()): Promise<{
  readonly seen: SeenRecord[];
  readonly close: () => Promise<void>;
}> {
  const kafka = new kafkajs.Kafka({
    clientId: 'test',
    brokers,
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const consumer = kafka.consumer({ groupId: randomName('test'), maxWaitTimeInMs: 100 });
  const seen: SeenRecord[] = [];
  consumer.on('consumer.crash', ({ payload }) =>
    process.stderr.write(`the reader ended: ${payload.error.message}\n`),
  );
  await consumer.connect();
  await consumer.subscribe({ topic: TOPICS.events, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      const headers = Object.fromEntries(
        Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]),
      );
      seen.push({ key: String(message.key), value: String(message.value), headers });
      return Promise.resolve();
    },
  });
  return { seen, close: () => consumer.disconnect() };
}
