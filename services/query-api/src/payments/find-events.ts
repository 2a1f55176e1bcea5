import { setImmediate } from 'node:timers/promises';
import { AppError, invalidRequest } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { shareNext } from '@webhooks/runtime';
import { idOf, keyOf, readRow } from './event-store.js';
import type { RunEventQuery, EventRow } from './event-store.js';
import { mergeEvents } from './merge-events.js';
import type { Transaction } from './merge-events.js';

/** Events that an answer is made of, at most: 0.7 MB. */
export const MAX_EVENTS = 1_000;
/** Keys of one statement: 0.04 s of the embedded database, which needs 2.7 s for 1,000 of them. */
const MAX_KEYS = 100;
const TOO_MANY = `is that of more than ${MAX_EVENTS} events: ask by eventId alone`;

/** Events that are kept by one of these keys: one more than an answer is made of, at most. */
export type FindByKey = (keys: readonly string[]) => Promise<readonly EventRow[]>;

/** Events that fit, one more than an answer is made of. */
const findEvents = (runQuery: RunEventQuery, filter: object): Promise<readonly EventRow[]> =>
  runQuery(({ events }) =>
    events
      .find(filter)
      .limit(MAX_EVENTS + 1)
      .lean<EventRow[]>()
      .exec(),
  );

/** What documents tell of each Pix that they name. */
export function mergeRows(rows: readonly EventRow[]): readonly Transaction[] {
  const byPix = Map.groupBy(rows.slice(0, MAX_EVENTS), ({ pix }) => pix);
  const isCut = rows.length > MAX_EVENTS;
  return [...byPix].map(([pix, some]) => mergeEvents(idOf(pix), some.map(readRow), isCut));
}

/** Of the events that name a charge those of its Pix, be they told with the charge or without. */
export async function findOfCharge(byPix: FindByKey, naming: readonly EventRow[]) {
  const keys = [...new Set(naming.map(({ pix }) => pix))];
  const rows: EventRow[] = [];
  // Those that were found are among them: when they were too many, these are.
  for (let from = 0; from < keys.length && rows.length <= MAX_EVENTS; from += MAX_KEYS)
    rows.push(...(await byPix(keys.slice(from, from + MAX_KEYS))));
  return rows;
}

/** What names the payments of a tenant: one Pix, the Pix of a charge, or one Pix of a charge. */
interface PaymentKeys {
  readonly endToEndId: string | undefined;
  readonly txId: string | undefined;
}

/** Ids of the events of payments. Throws 422 when they are more than 1,000: which of them are the newest is not known. */
export async function findEventIds(
  runQuery: RunEventQuery,
  tenantId: string,
  { endToEndId, txId }: PaymentKeys,
): Promise<readonly string[]> {
  const byPix: FindByKey = (keys) => findEvents(runQuery, { pix: { $in: keys } });
  const charge = keyOf(tenantId, txId ?? '');
  const rows =
    endToEndId === undefined
      ? await findOfCharge(byPix, await findEvents(runQuery, { charge }))
      : await byPix([keyOf(tenantId, endToEndId)]);
  if (rows.length > MAX_EVENTS)
    throw invalidRequest([{ property: endToEndId ? 'endToEndId' : 'txId', reason: TOO_MANY }]);
  const isNamed = endToEndId === undefined || txId === undefined || rows.some((row) => row.charge === charge);
  return isNamed ? rows.map(({ _id }) => idOf(_id)) : [];
}

type KeyName = 'pix' | 'charge';
/** Keys (`tenantId/id`) of one tenant. */
type KeyRequest = readonly string[];
/** Undefined: the next lookup is to find them. */
type Found = Promise<readonly EventRow[] | undefined>;

/** Of the wishes of a tenant the first, and those behind it as long as one statement has room for their keys. */
function turnOf(requests: readonly KeyRequest[]): KeyRequest[] {
  let room = MAX_KEYS;
  return requests.filter((request, at) => (room -= request.length) >= 0 || at === 0);
}

/**
 * Of each wish its events. Wishes that are too many for one statement are split by tenant. Of one tenant's, a statement takes
 * what has room, or the first wish when that alone may take it all. The others are for the next lookup. A statement that fails fails
 * all its wishes.
 */
async function findAll(requests: readonly KeyRequest[], name: KeyName, find: FindByKey): Promise<Found[]> {
  if (requests.length === 1) return requests.map(find);
  const keys = [...new Set(requests.flat())];
  const rows = keys.length > MAX_KEYS ? undefined : await find(keys);
  if (rows !== undefined && rows.length <= MAX_EVENTS) {
    const byKey = Map.groupBy(rows, (row) => row[name] ?? '');
    return requests.map((request) => Promise.resolve(request.flatMap((key) => byKey.get(key) ?? [])));
  }
  const tenants = [...Map.groupBy(requests, ([key]) => key?.split('/')[0]).values()];
  const turn = rows ? requests.slice(0, 1) : turnOf(requests);
  const apart = (tenants.length > 1 ? tenants : [turn]).flatMap((part) => {
    const found = findAll(part, name, find);
    return part.map((request, at) => [request, found.then((all) => all[at])] as const);
  });
  const byRequest = new Map(apart);
  return requests.map(async (request) => byRequest.get(request));
}

interface Waiting extends PromiseWithResolvers<readonly EventRow[] | undefined> {
  readonly keys: KeyRequest;
}

/**
 * Finds events by Pix or by charge. One lookup runs at a time; the next one serves all requests that arrived meanwhile.
 * A lookup runs one statement for each tenant at most, and leaves the rest to the next lookup. So a tenant with large requests
 * delays no other. `within` gives what a lookup runs by. Throws 429 when a tenant's own requests used up its 4 s.
 */
export function findByKeyOf(name: KeyName, within: () => RunEventQuery): FindByKey {
  const waiting = new Map<string, Waiting>();
  const lookUp = shareNext(
    async () => {
      const batch = [...waiting.values()];
      waiting.clear();
      const runQuery = within();
      const find: FindByKey = (keys) => findEvents(runQuery, { [name]: { $in: keys } });
      const found = findAll(
        batch.map(({ keys }) => keys),
        name,
        find,
      );
      batch.forEach(({ resolve }, at) => resolve(found.then((all) => all[at])));
      await Promise.allSettled(await found);
    },
    // Requests that the projection released together share one statement.
    () => setImmediate(),
  );
  return async (keys) => {
    const endAt = performance.now() + REQUEST_MS;
    while (performance.now() < endAt) {
      const request = waiting.get(String(keys)) ?? { keys, ...Promise.withResolvers() };
      waiting.set(String(keys), request);
      // Its own promise rejects when the lookup fails.
      lookUp().catch(() => undefined);
      const rows = await request.promise;
      if (rows !== undefined) return rows;
    }
    throw new AppError('too-many-requests', 'too many large queries of this tenant are under way');
  };
}
