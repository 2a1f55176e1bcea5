import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { randomName } from '@webhooks/testkit';

/** A record of a foreign producer (kafkajs) whose transaction stays open; returns how to abort it. */
export async function openTransaction(
  brokers: readonly string[],
  record: { readonly topic: string; readonly key: string; readonly value: string },
): Promise<() => Promise<void>> {
  const producer = new Kafkajs({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer({
    transactionalId: randomName('foreign'),
    idempotent: true,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  const { topic, key, value } = record;
  await transaction.send({ topic, messages: [{ key, value, partition: 0 }] });
  return async () => {
    await transaction.abort();
    await producer.disconnect();
  };
}
