import type { RequestOptions } from './call.js';
import type { QueryCalls } from './query-calls.js';
import type {
  DeliveryFilter,
  DeliverySummary,
  NotificationFilter,
  NotificationPage,
} from '../types/query-types.js';
import type {
  Redelivery,
  RedeliveryFilter,
  TransactionFilter,
  TransactionSummary,
} from '../types/query-types.js';
import type { WebhookCalls } from './webhook-calls.js';
import type { ListedWebhook, Page, WebhookFilter } from '../types/webhook-types.js';

/**
 * Whole lists, requested page by page as they are read. `break` or the signal ends a list. Throws an `Error` for a page whose
 * `nextCursor` is its own cursor, because such a list has no end.
 */
export interface Pages {
  eachWebhook(filter?: WebhookFilter, options?: RequestOptions): AsyncIterable<ListedWebhook>;
  eachTransaction(filter: TransactionFilter, options?: RequestOptions): AsyncIterable<TransactionSummary>;
  eachDelivery(filter?: DeliveryFilter, options?: RequestOptions): AsyncIterable<DeliverySummary>;
  eachRedelivery(filter?: RedeliveryFilter, options?: RequestOptions): AsyncIterable<Redelivery>;
  /**
   * Yields the pages of notifications until there are no more; with `wait`, without end. Handle a page, then store its `nextCursor`: it is
   * `after` of the next run.
   */
  notificationPages(filter?: NotificationFilter, options?: RequestOptions): AsyncIterable<NotificationPage>;
}

type List<T, F> = (filter: F, options?: RequestOptions) => Promise<Page<T>>;

function assertProgress(from: string | undefined, to: string | undefined): void {
  if (to !== undefined && to === from) throw new Error('a page leads to itself: its nextCursor is its own');
}

const eachOf = <T, F extends { readonly cursor?: string }>(list: List<T, F>) =>
  async function* (filter = {} as F, options?: RequestOptions): AsyncGenerator<T> {
    for (let next: F | undefined = filter; next !== undefined;) {
      const { data, nextCursor }: Page<T> = await list(next, options);
      yield* data;
      assertProgress(next.cursor, nextCursor);
      next = nextCursor === undefined ? undefined : { ...filter, cursor: nextCursor };
    }
  };

export function createPages(calls: WebhookCalls & QueryCalls): Pages {
  return {
    eachWebhook: eachOf((filter, options) => calls.list(filter, options)),
    eachTransaction: eachOf((filter: TransactionFilter, options) => calls.transactions(filter, options)),
    eachDelivery: eachOf((filter, options) => calls.deliveries(filter, options)),
    eachRedelivery: eachOf((filter, options) => calls.redeliveries(filter, options)),
    notificationPages: async function* (filter = {}, options) {
      for (let next = filter, hasMore = true; hasMore;) {
        const page = await calls.notifications(next, options);
        yield page;
        if (page.hasMore) assertProgress(next.after, page.nextCursor);
        next = { ...filter, after: page.nextCursor };
        hasMore = page.hasMore || (filter.wait ?? 0) > 0;
      }
    },
  };
}
