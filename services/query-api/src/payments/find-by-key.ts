import DataLoader from 'dataloader';
import type { EventRow } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, findEvents } from './find-transactions.js';
import type { FindByKey } from './find-transactions.js';

type KeyName = 'endToEndId' | 'txId';
type Key = Readonly<Record<'tenantId' | 'value', string>>;

/** Of each value its events. Where one statement is cut off, each is looked up alone: one may have taken all the room. */
async function findOfTenant(ask: AskEvents, tenantId: string, name: KeyName, values: readonly string[]) {
  const rows = await findEvents(ask, { tenantId, [name]: { $in: values } });
  if (rows.length <= MAX_EVENTS) return Map.groupBy(rows, (row) => row[name] ?? '');
  const alone = async (value: string) => [value, await findEvents(ask, { tenantId, [name]: value })] as const;
  return new Map(await Promise.all(values.map(alone)));
}

/**
 * Events of one Pix, or that name one charge. What is asked for within one turn of the event loop is looked up by one statement
 * for each tenant: handlers that waited for the projection go on all at once. `within` gives what a statement runs by.
 */
export function findByKeyOf(name: KeyName, within: () => AskEvents): FindByKey {
  const loader = new DataLoader<Key, Promise<readonly EventRow[]>>(
    (keys) => {
      const ask = within();
      const finding = new Map(
        [...Map.groupBy(keys, ({ tenantId }) => tenantId)].map(([tenantId, some]) => {
          const values = new Set(some.map(({ value }) => value));
          return [tenantId, findOfTenant(ask, tenantId, name, [...values])];
        }),
      );
      // Each waits for the statement of its tenant only.
      const rows = async ({ tenantId, value }: Key) => (await finding.get(tenantId))?.get(value) ?? [];
      return Promise.resolve(keys.map(rows));
    },
    { cache: false, maxBatchSize: MAX_EVENTS, batchScheduleFn: setImmediate },
  );
  return async (tenantId, value) => loader.load({ tenantId, value });
}
