import { toListed } from './configuration.js';
import type { Configuration } from './configuration.js';
import { cursorAfter } from './list-query.js';
import type { ListQuery } from './list-query.js';

export type ListConfigurations = (tenantId: string, query: ListQuery) => Promise<readonly Configuration[]>;

export interface WebhookList {
  readonly data: readonly ReturnType<typeof toListed>[];
  /** Length of `data`. */
  readonly results: number;
  /** Present when there are more. */
  readonly nextCursor?: string;
}

/** `GET`: a tenant's configurations in the order of their registration. */
export async function listWebhooks(
  tenantId: string,
  query: ListQuery,
  list: ListConfigurations,
): Promise<WebhookList> {
  // One more than `limit` shows whether there is a next page.
  const found = await list(tenantId, { ...query, limit: query.limit + 1 });
  const data = found.slice(0, query.limit);
  const last = data.at(-1);
  return {
    data: data.map(toListed),
    results: data.length,
    ...(last && found.length > data.length ? { nextCursor: cursorAfter(last.position) } : {}),
  };
}
