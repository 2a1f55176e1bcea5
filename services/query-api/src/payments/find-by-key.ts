import DataLoader from 'dataloader';
import type { EventRow } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, findEvents } from './find-transactions.js';
import type { FindByKey } from './find-transactions.js';

type KeyName = 'endToEndId' | 'txId';

type Wish = Parameters<FindByKey>;

/** Of each wish its events. Where they are too many for one statement each is looked up alone: one may have taken all the room. */
async function findAll(ask: AskEvents, name: KeyName, tenantId: string, wishes: readonly Wish[]) {
  const find = (values: readonly string[]) => findEvents(ask, { tenantId, [name]: { $in: values } });
  const values = [...new Set(wishes.flatMap(([, sought]) => sought))];
  const rows = values.length > MAX_EVENTS ? undefined : await find(values);
  if (rows === undefined || rows.length > MAX_EVENTS)
    return new Map(await Promise.all(wishes.map(async (wish) => [wish, await find(wish[1])] as const)));
  const byValue = Map.groupBy(rows, (row) => row[name] ?? '');
  return new Map(wishes.map((wish) => [wish, wish[1].flatMap((value) => byValue.get(value) ?? [])]));
}

/**
 * Events of Pix, or that name a charge. What is asked for within one turn of the event loop is looked up by one statement
 * for each tenant: handlers that waited for the projection go on all at once. `within` gives what a statement runs by.
 */
export function findByKeyOf(name: KeyName, within: () => AskEvents): FindByKey {
  const loader = new DataLoader<Wish, Promise<readonly EventRow[]>, string>(
    (all) => {
      // Who asks for the same from now on has a statement that begins later.
      loader.clearAll();
      const ask = within();
      const tenants = [...Map.groupBy(all, ([tenantId]) => tenantId)];
      const finding = new Map(
        tenants.map(([tenantId, wishes]) => [tenantId, findAll(ask, name, tenantId, wishes)]),
      );
      // Each waits for the statement of its tenant only.
      const rows = async (wish: Wish) => (await finding.get(wish[0]))?.get(wish) ?? [];
      return Promise.resolve(all.map(rows));
    },
    { cacheKeyFn: (wish) => wish.flat().join('/'), maxBatchSize: MAX_EVENTS, batchScheduleFn: setImmediate },
  );
  return async (...wish) => loader.load(wish);
}
