import { TOPICS } from '@webhooks/contracts';
import kafkajs from 'kafkajs';

/** Opens a counter of what `payments.events.rejected` has gained since now. */
export async function countRejected(
  brokers: readonly string[],
): Promise<{ readonly gained: () => Promise<number>; readonly close: () => Promise<void> }> {
  const kafka = new kafkajs.Kafka({
    clientId: 'demo-ledger',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  const total = async (): Promise<number> => {
    const offsets = await admin.fetchTopicOffsets(TOPICS.rejected);
    return offsets.reduce((sum, { high }) => sum + Number(high), 0);
  };
  const before = await total();
  let known = 0;
  const gained = async (): Promise<number> => {
    try {
      known = (await total()) - before;
    } catch {
      // The broker is away: the last count stays, and the next look reads again.
    }
    return known;
  };
  return { gained, close: () => admin.disconnect() };
}
