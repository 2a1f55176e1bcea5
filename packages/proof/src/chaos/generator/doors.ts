import { ConnectionError, ProblemError } from '@webhooks/client';
import type { Client, EventResult } from '@webhooks/client';
import { TOPICS, encodeEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { createPaymentProducer } from '@webhooks/testkit/account';

/** The ways to give an event to the service. */
export const DOORS = ['ingest', 'topic'] as const;
export type Door = (typeof DOORS)[number];

/** Gives events to the service; resolves with those that were accepted. Never repeats by itself. */
export type Give = (events: readonly PaymentEvent[]) => Promise<readonly PaymentEvent[]>;

/**
 * Whether a service that is down, or has lost its database or broker, answers like this: with nothing, with 503, or with the
 * 500 that names what is unavailable.
 */
export const isServiceAway = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ProblemError &&
    (error.problem.status === 503 || error.problem.code.endsWith('unavailable')));

const isTooMany = (error: unknown): boolean => error instanceof ProblemError && error.problem.status === 429;

/** Whether it was accepted. Throws for what no valid event may be answered, no answer of its own included. */
function isAccepted(id: string, result: EventResult | undefined): boolean {
  if (result?.status === 'accepted') return true;
  if (result?.status === 'unavailable') return false;
  throw new Error(`ingest answered ${result?.status ?? 'nothing'} to the valid event ${id}`);
}

/**
 * Through ingest: 202, event by event. No response, one of a service that is away, and 429 promise nothing; it throws for any
 * other, which no valid event may get.
 */
export const giveIngest =
  (client: Pick<Client, 'postEvents'>): Give =>
  async (events) => {
    try {
      const results = await client.postEvents(events);
      return events.filter(({ id }, index) => isAccepted(id, results[index]));
    } catch (error) {
      if (isServiceAway(error) || isTooMany(error)) return [];
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
      return events;
    } catch {
      // Whatever it was, nothing was promised: the journal says `sent`, and the checker looks at the topic.
      return [];
    }
  };
  return { give, close: () => producer.disconnect() };
}
