import type { UtcTime } from './event-types.js';
import type { Sum } from './statement-types.js';
import type { EndpointHealth, ListedWebhook, Page } from './webhook-types.js';

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
