import DataLoader from 'dataloader';
import { tenantOf } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, findEvents } from './find-transactions.js';
import type { FindByKey } from './find-transactions.js';
import { MAX_STATEMENT } from '../write-rows.js';

type KeyName = 'pix' | 'charge';
/** Keys of one tenant. */
type Wish = readonly string[];
type Found = ReturnType<FindByKey>;

/**
 * Of each wish its events. Where they are too many for one statement each tenant has its own, and then each wish: one may have
 * taken all the room. A statement that fails fails all whose it is.
 */
async function findAll(wishes: readonly Wish[], name: KeyName, find: FindByKey): Promise<Found[]> {
  if (wishes.length === 1) return wishes.map(find);
  const keys = [...new Set(wishes.flat())];
  const rows = keys.length > MAX_EVENTS ? undefined : await find(keys);
  if (rows !== undefined && rows.length <= MAX_EVENTS) {
    const byKey = Map.groupBy(rows, (row) => row[name] ?? '');
    return wishes.map((wish) => Promise.resolve(wish.flatMap((key) => byKey.get(key) ?? [])));
  }
  const tenants = [...Map.groupBy(wishes, ([key = '']) => tenantOf(key)).values()];
  const parts = tenants.length > 1 ? tenants : wishes.map((wish) => [wish]);
  const apart = parts.flatMap((part) => {
    const found = findAll(part, name, find);
    return part.map((wish, at) => [wish, found.then((all) => all[at] ?? [])] as const);
  });
  const byWish = new Map(apart);
  return wishes.map(async (wish) => (await byWish.get(wish)) ?? []);
}

/**
 * Events of Pix, or that name a charge. What is asked for within one turn of the event loop, by whatever tenants, is looked up
 * by one statement: handlers that waited for the projection go on all at once. `within` gives what a statement runs by.
 */
export function findByKeyOf(name: KeyName, within: () => AskEvents): FindByKey {
  const loader = new DataLoader<Wish, Found, string>(
    (wishes) => {
      // Who asks for the same from now on has a statement that begins later.
      loader.clearAll();
      const ask = within();
      return findAll(wishes, name, (keys) => findEvents(ask, { [name]: { $in: keys } }));
    },
    { cacheKeyFn: (wish) => wish.join(), maxBatchSize: MAX_STATEMENT, batchScheduleFn: setImmediate },
  );
  return async (keys) => loader.load(keys);
}
