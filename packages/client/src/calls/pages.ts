import type { RequestOptions } from './call.js';
import type { QueryCalls } from './query-calls.js';
import type { WebhookCalls } from './webhook-calls.js';
import type * as Types from '../types/types.js';

function assertProgress(from: string | undefined, to: string | undefined): void {
  if (to !== undefined && to === from) throw new Error('a page leads to itself: its nextCursor is its own');
}

async function* each<T, F extends { readonly cursor?: string }>(
  filter: F,
  list: (page: F) => Promise<Types.Page<T>>,
): AsyncGenerator<T> {
  for (let next: F | undefined = filter; next !== undefined;) {
    const { data, nextCursor }: Types.Page<T> = await list(next);
    yield* data;
    assertProgress(next.cursor, nextCursor);
    next = nextCursor === undefined ? undefined : { ...filter, cursor: nextCursor };
  }
}

/**
 * Whole lists, requested page by page as they are read. `break` or the signal ends a list. Throws an `Error` for a page whose
 * `nextCursor` is its own cursor, because such a list has no end.
 */
export type Pages = ReturnType<typeof createPages>;

export const createPages = (calls: WebhookCalls & QueryCalls) => ({
  eachWebhook: (filter: Types.WebhookFilter = {}, options?: RequestOptions) =>
    each(filter, (page) => calls.list(page, options)),
  eachTransaction: (filter: Types.TransactionFilter, options?: RequestOptions) =>
    each(filter, (page) => calls.transactions(page, options)),
  eachDelivery: (filter: Types.DeliveryFilter = {}, options?: RequestOptions) =>
    each(filter, (page) => calls.deliveries(page, options)),
  eachRedelivery: (filter: Types.RedeliveryFilter = {}, options?: RequestOptions) =>
    each(filter, (page) => calls.redeliveries(page, options)),
  /**
   * Yields the pages of notifications until there are no more; with `wait`, without end. Handle a page, then store its `nextCursor`: it is
   * `after` of the next run.
   */
  notificationPages: async function* (filter: Types.NotificationFilter = {}, options?: RequestOptions) {
    for (let next = filter, hasMore = true; hasMore;) {
      const page = await calls.notifications(next, options);
      yield page;
      if (page.hasMore) assertProgress(next.after, page.nextCursor);
      next = { ...filter, after: page.nextCursor };
      hasMore = page.hasMore || (filter.wait ?? 0) > 0;
    }
  },
});
