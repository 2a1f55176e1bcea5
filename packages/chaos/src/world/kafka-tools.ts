import { createKafkaClient } from '@webhooks/ledger';
import type { Admin } from 'kafkajs';
import type { Stack } from '@webhooks/stack';

/** Does `work` with an admin client of its own. */
export async function withAdmin<T>(
  stack: Pick<Stack, 'description'>,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = createKafkaClient(stack.description().kafkaBrokers, 'chaos').admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
