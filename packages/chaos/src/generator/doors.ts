import { ConnectionError, ProblemError } from '@webhooks/client';
import type { Client } from '@webhooks/client';
import { TOPICS, encodeEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { createPaymentProducer } from '@webhooks/ledger';

/** Gives events to the service; answers the ids of those that were accepted. Never repeats by itself. */
export type Give = (events: readonly PaymentEvent[]) => Promise<readonly string[]>;

/** Through ingest: 202, event by event. An answer that says no, or none at all, promises nothing. */
export const giveIngest =
  (client: Pick<Client, 'postEvents'>): Give =>
  async (events) => {
    try {
      const results = await client.postEvents(events);
      return events.flatMap(({ id }, index) => (results[index]?.status === 'accepted' ? [id] : []));
    } catch (error) {
      if (error instanceof ConnectionError || error instanceof ProblemError) return [];
      throw error;
    }
  };

/** Straight to the topic, with `acks=all`. kafkajs tries again by itself: an event may stand on the topic twice. */
export async function openTopicDoor(
  brokers: readonly string[],
): Promise<{ readonly give: Give; readonly close: () => Promise<void> }> {
  const producer = createPaymentProducer(brokers, 'chaos-payment-system');
  await producer.connect();
  const give: Give = async (events) => {
    const messages = events.map((event) => ({ key: event.data.endToEndId, value: encodeEvent(event) }));
    try {
      await producer.send({ topic: TOPICS.events, acks: -1, timeout: 5_000, messages });
      return events.map(({ id }) => id);
    } catch {
      // Whatever it was, nothing was promised: the journal says `sent`, and the checker looks at the topic.
      return [];
    }
  };
  return { give, close: () => producer.disconnect() };
}
