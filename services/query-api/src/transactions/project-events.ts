import { readEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { toFact } from './fact.js';
import type { AppendedEvent } from './notification-store.js';
import { storeFacts } from './store-facts.js';
import type { TransactionStore } from './store-facts.js';

export interface EventPorts {
  readonly store: TransactionStore;
  readonly keepNotifications: (events: readonly AppendedEvent[]) => Promise<void>;
}

/** The event of a record; none when it cannot be read: the delivery worker moves that to the rejected ones. */
function eventOf({ value, undecodable, timestamp }: KafkaRecord): AppendedEvent | undefined {
  if (undecodable !== undefined) return undefined;
  const result = readEvent(value);
  return result.ok ? { event: result.event, appendedAt: timestamp } : undefined;
}

/**
 * Writes what records of `payments.events` tell: to the transactions, and the body that tells of each event. Any order and
 * any repetition come to the same documents.
 */
export async function projectEvents(records: readonly KafkaRecord[], ports: EventPorts): Promise<void> {
  const events = records.map(eventOf).filter((event) => event !== undefined);
  await Promise.all([
    storeFacts(
      events.map(({ event }) => toFact(event)),
      ports.store,
    ),
    ports.keepNotifications(events),
  ]);
}

/** Writes what a test notification tells: its identifiers then resolve to a record marked `test: true`. */
export const projectTestEvent = (event: PaymentEvent, store: TransactionStore): Promise<void> =>
  storeFacts([toFact(event, true)], store);
