import DataLoader from 'dataloader';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, findEvents } from './find-transactions.js';
import type { FindByKey } from './find-transactions.js';

type KeyName = 'pix' | 'charge';
/** Keys (`tenantId/id`) of one tenant. */
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
  const tenants = [...Map.groupBy(wishes, ([key]) => key?.split('/')[0]).values()];
  const parts = tenants.length > 1 ? tenants : wishes.map((wish) => [wish]);
  const apart = parts.flatMap((part) => {
    const found = findAll(part, name, find);
    return part.map((wish, at) => [wish, found.then((all) => all[at] ?? [])] as const);
  });
  const byWish = new Map(apart);
  return wishes.map(async (wish) => (await byWish.get(wish)) ?? []);
}

/**
 * Events of Pix, or that name a charge. One lookup runs at a time; the next one is for all that any tenants asked for meanwhile.
 * Handlers that waited for the projection go on all at once, so they share a statement; and statements of 1,000 events, which
 * one tenant asks for again and again, do not pile up in front of the others. `within` gives what a lookup runs by.
 */
export function findByKeyOf(name: KeyName, within: () => AskEvents): FindByKey {
  let lookup: Promise<unknown> = Promise.resolve();
  const loader = new DataLoader<Wish, Found, string>(
    (wishes) => {
      // Who asks for the same from now on has a statement that begins later.
      loader.clearAll();
      const ask = within();
      const found = findAll(wishes, name, (keys) => findEvents(ask, { [name]: { $in: keys } }));
      lookup = found.then((all) => Promise.allSettled(all)).catch(() => undefined);
      return found;
    },
    { cacheKeyFn: String, batchScheduleFn: (begin) => void lookup.then(() => setImmediate(begin), begin) },
  );
  return async (keys) => loader.load(keys);
}
