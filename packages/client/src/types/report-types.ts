import type { EventType, UtcTime } from './event-types.js';
import type { EndpointHealth, ListedWebhook, Page } from './webhook-types.js';

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

/** How one webhook does. */
export interface OverviewWebhook extends ListedWebhook {
  /** As in its health, but `idle` means no attempt within the hour. */
  readonly state: EndpointHealth['state'];
  /** When it began to fail. */
  readonly since?: UtcTime;
  /** When it is paused. */
  readonly nextProbeAt?: UtcTime;
  readonly topFailure?: Pick<EndpointHealth['failures'][number], 'class' | 'code' | 'cause'>;
  readonly lastHour: { readonly delivered: number; readonly failed: number; readonly p95Ms?: number };
  /** Events since it began to fail that are not delivered; with `atLeast` there may be more. */
  readonly undelivered?: Sum & { readonly atLeast: boolean };
}

export interface Overview extends Omit<Page<OverviewWebhook>, 'nextCursor'> {
  /** The last day in points of ten minutes, the oldest first. `failed`: attempts that failed. */
  readonly series: readonly {
    readonly at: UtcTime;
    readonly delivered: number;
    readonly failed: number;
    readonly dead: number;
  }[];
}
