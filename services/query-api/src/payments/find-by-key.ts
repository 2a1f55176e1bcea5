import { AppError } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import DataLoader from 'dataloader';
import type { EventRow } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { MAX_EVENTS, MAX_KEYS, findEvents } from './find-transactions.js';
import type { FindByKey } from './find-transactions.js';

type KeyName = 'pix' | 'charge';
/** Keys (`tenantId/id`) of one tenant. */
type Wish = readonly string[];
/** Undefined: the next lookup is to find them. */
type Found = Promise<readonly EventRow[] | undefined>;

/** Of the wishes of a tenant the first, and those behind it as long as one statement has room for their keys. */
function turnOf(wishes: readonly Wish[]): Wish[] {
  let room = MAX_KEYS;
  return wishes.filter((wish, at) => (room -= wish.length) >= 0 || at === 0);
}

/**
 * Of each wish its events. Wishes that are too many for one statement are split by tenant. Of one tenant's, a statement takes
 * what has room, or the first wish when that alone may take it all. The others are for the next lookup. A statement that fails fails
 * all its wishes.
 */
async function findAll(wishes: readonly Wish[], name: KeyName, find: FindByKey): Promise<Found[]> {
  if (wishes.length === 1) return wishes.map(find);
  const keys = [...new Set(wishes.flat())];
  const rows = keys.length > MAX_KEYS ? undefined : await find(keys);
  if (rows !== undefined && rows.length <= MAX_EVENTS) {
    const byKey = Map.groupBy(rows, (row) => row[name] ?? '');
    return wishes.map((wish) => Promise.resolve(wish.flatMap((key) => byKey.get(key) ?? [])));
  }
  const tenants = [...Map.groupBy(wishes, ([key]) => key?.split('/')[0]).values()];
  const turn = rows ? wishes.slice(0, 1) : turnOf(wishes);
  const apart = (tenants.length > 1 ? tenants : [turn]).flatMap((part) => {
    const found = findAll(part, name, find);
    return part.map((wish, at) => [wish, found.then((all) => all[at])] as const);
  });
  const byWish = new Map(apart);
  return wishes.map(async (wish) => byWish.get(wish));
}

/**
 * Events of Pix, or that name a charge. One lookup runs at a time; the next one is for all that any tenants asked for meanwhile.
 * Handlers that waited for the projection go on all at once, so they share a statement. A lookup has of each tenant what one
 * statement finds, and the next lookup has the rest. So a tenant that asks for 1,000 events again and again holds up no other.
 * `within` gives what a lookup runs by. Throws 429 for what a tenant's own large lookups kept from its turn.
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
  return async (keys) => {
    const endAt = performance.now() + REQUEST_MS;
    while (performance.now() < endAt) {
      const rows = await loader.load(keys);
      if (rows !== undefined) return rows;
    }
    throw new AppError('too-many-requests', 'too many large queries of this tenant are under way');
  };
}
