import DataLoader from 'dataloader';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, findEvents } from './find-transactions.js';
import type { FindByKey } from './find-transactions.js';
import { MAX_STATEMENT } from '../write-rows.js';

type Wish = readonly string[];

/** Of each wish its events. Where they are too many for one statement each is looked up alone: one may have taken all the room. */
async function findAll(wishes: readonly Wish[], name: 'pix' | 'charge', find: FindByKey) {
  const keys = [...new Set(wishes.flat())];
  const rows = keys.length > MAX_EVENTS ? undefined : await find(keys);
  if (rows === undefined || rows.length > MAX_EVENTS) return wishes.map(find);
  const byKey = Map.groupBy(rows, (row) => row[name] ?? '');
  return wishes.map((wish) => Promise.resolve(wish.flatMap((key) => byKey.get(key) ?? [])));
}

/**
 * Events of Pix, or that name a charge. What is asked for within one turn of the event loop, by whatever tenants, is looked up
 * by one statement: handlers that waited for the projection go on all at once. `within` gives what a statement runs by.
 */
export function findByKeyOf(name: 'pix' | 'charge', within: () => AskEvents): FindByKey {
  const loader = new DataLoader<Wish, ReturnType<FindByKey>, string>(
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
