import kafkajs from 'kafkajs';
import type { Admin, Kafka } from 'kafkajs';
import type { Stack } from '@webhooks/stack';

/** A client that says nothing and goes straight to the broker. */
export const chaosKafka = (brokers: readonly string[]): Kafka =>
  new kafkajs.Kafka({ clientId: 'chaos', brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });

/** Does `work` with an admin client of its own. */
export async function withAdmin<T>(
  stack: Pick<Stack, 'description'>,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = chaosKafka(stack.description().kafkaBrokers).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
