import type { EventType, UtcTime } from './event-types.js';
import type { ListedWebhook } from './webhook-types.js';

/** A number of events and their amount in reais. A difference may be negative. */
export interface Sum {
  readonly events: number;
  readonly amount: string;
}

/** What became of a day's events of one webhook's type: `events` is the sum of the others, or there is a `difference`. */
export interface StatementWebhook
  extends ListedWebhook, Readonly<Record<'events' | 'delivered' | 'dead' | 'cancelled' | 'waiting', Sum>> {
  /** Without a delivery, because the webhook was disabled or registered later. */
  readonly missed: Sum;
  readonly balanced: boolean;
  readonly difference: Sum;
}

/** A day in São Paulo, by when events were accepted. */
export interface Statement {
  readonly date: string;
  readonly from: UtcTime;
  readonly to: UtcTime;
  /** The day has not ended, or a delivery of it waits. */
  readonly open: boolean;
  readonly balanced: boolean;
  readonly webhooks: readonly StatementWebhook[];
  /** Events that matched no webhook, at most so many. */
  readonly unmatched: readonly (Sum & { readonly eventType: EventType })[];
}
