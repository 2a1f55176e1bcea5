import DataLoader from 'dataloader';
import type { EventRow } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, findEvents } from './find-transactions.js';

interface PixKey {
  readonly tenantId: string;
  readonly endToEndId: string;
}

/** Of each Pix its events. Where one statement is cut off, each is looked up alone: one may have taken all the room. */
async function findOfTenant(ask: AskEvents, tenantId: string, endToEndIds: readonly string[]) {
  const rows = await findEvents(ask, { tenantId, endToEndId: { $in: endToEndIds } });
  if (rows.length <= MAX_EVENTS) return Map.groupBy(rows, ({ endToEndId }) => endToEndId);
  const alone = async (endToEndId: string) =>
    [endToEndId, await findEvents(ask, { tenantId, endToEndId })] as const;
  return new Map(await Promise.all(endToEndIds.map(alone)));
}

/**
 * Events of one Pix. What is asked for within one turn of the event loop is looked up by one statement for each tenant: handlers
 * that waited for the projection go on all at once. `within` gives what a statement runs by.
 */
export function findByPixOf(within: () => AskEvents): (key: PixKey) => Promise<readonly EventRow[]> {
  const loader = new DataLoader<PixKey, readonly EventRow[]>(
    async (keys) => {
      const ask = within();
      const tenants = Map.groupBy(keys, ({ tenantId }) => tenantId);
      const finding = [...tenants].map(async ([tenantId, some]) => {
        const endToEndIds = new Set(some.map(({ endToEndId }) => endToEndId));
        return [tenantId, await findOfTenant(ask, tenantId, [...endToEndIds])] as const;
      });
      const found = new Map(await Promise.all(finding));
      return keys.map(({ tenantId, endToEndId }) => found.get(tenantId)?.get(endToEndId) ?? []);
    },
    { cache: false, maxBatchSize: MAX_EVENTS, batchScheduleFn: setImmediate },
  );
  return (key) => loader.load(key);
}
