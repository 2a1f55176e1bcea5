import { setImmediate } from 'node:timers/promises';
import { AppError, invalidRequest } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { shareNext } from '@webhooks/runtime';
import { readUpTo } from '../documents.js';
import { findByIds, idOf, keyOf, readRow } from './event-store.js';
import type { RunEventQuery, EventRow } from './event-store.js';
import { mergeEvents } from './merge-events.js';
import type { Transaction } from './merge-events.js';
import { readOrCatchUp } from '../projection/catch-up.js';
import type { CatchUpResult } from '../projection/catch-up.js';

/** Most events of one response: 0.7 MB. */
export const MAX_EVENTS = 1_000;
/** Most keys of one statement. The embedded database needs 0.04 s for 100, and 2.7 s for 1,000. */
const MAX_KEYS = 100;
const TOO_MANY = `matches more than ${MAX_EVENTS} events: filter by eventId alone`;

/** Finds events by these keys, at most `MAX_EVENTS + 1`. */
export type FindByKey = (keys: readonly string[]) => Promise<readonly EventRow[]>;

/** Finds events, at most `MAX_EVENTS + 1`. */
const findEvents = (runQuery: RunEventQuery, filter: object): Promise<readonly EventRow[]> =>
  runQuery(({ events }) => readUpTo(events.find(filter), MAX_EVENTS + 1));

/** Finds one event of a tenant. Waits by `catchUp` after a miss; throws 503 when the projection is late. */
export function findEvent(
  runQuery: RunEventQuery,
  tenantId: string,
  eventId: string,
  catchUp: () => Promise<CatchUpResult>,
): Promise<EventRow | undefined> {
  const read = async () => (await findByIds(runQuery, tenantId, [eventId])).get(eventId);
  return readOrCatchUp({ read, catchUp });
}

/** Merges events into one transaction for each Pix. */
export function mergeRows(rows: readonly EventRow[]): readonly Transaction[] {
  const byPix = Map.groupBy(rows.slice(0, MAX_EVENTS), ({ pix }) => pix);
  const truncated = rows.length > MAX_EVENTS;
  return [...byPix].map(([pix, events]) => mergeEvents(idOf(pix), events.map(readRow), truncated));
}

/** Finds all events of every Pix that the events of a charge name. Those events need not name the charge. */
export async function findOfCharge(byPix: FindByKey, naming: readonly EventRow[]) {
  const keys = [...new Set(naming.map(({ pix }) => pix))];
  const rows: EventRow[] = [];
  // These include the events of the charge, so more than `MAX_EVENTS` there are more than `MAX_EVENTS` here.
  for (let from = 0; from < keys.length && rows.length <= MAX_EVENTS; from += MAX_KEYS)
    rows.push(...(await byPix(keys.slice(from, from + MAX_KEYS))));
  return rows;
}

/** Names payments of a tenant: one Pix, the Pix of a charge, or one Pix of a charge. */
interface PaymentKeys {
  readonly endToEndId: string | undefined;
  readonly txId: string | undefined;
}

/**
 * Finds the ids of the events of payments. Throws 422 for more than 1,000 events, because the statement does not find
 * the newest ones first.
 */
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
/** The events of one request. Undefined: the request is left to the next lookup. */
type Found = Promise<readonly EventRow[] | undefined>;

/** Returns the first request of a tenant, and as many others as fit into one statement. */
function takeFitting(requests: readonly KeyRequest[]): KeyRequest[] {
  let capacity = MAX_KEYS;
  return requests.filter((request, at) => (capacity -= request.length) >= 0 || at === 0);
}

/**
 * Finds the events of each request. Requests that do not fit into one statement are split by tenant. For one tenant,
 * one statement is run, and the other requests are left to the next lookup. When a statement fails, all its requests
 * fail.
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
  const chosen = rows ? requests.slice(0, 1) : takeFitting(requests);
  const parts = (tenants.length > 1 ? tenants : [chosen]).flatMap((part) => {
    const found = findAll(part, name, find);
    return part.map((request, at) => [request, found.then((all) => all[at])] as const);
  });
  const byRequest = new Map(parts);
  return requests.map(async (request) => byRequest.get(request));
}

interface Waiting extends PromiseWithResolvers<readonly EventRow[] | undefined> {
  readonly keys: KeyRequest;
}

/**
 * Finds events by Pix or by charge. One lookup runs at a time, and the next one serves all requests that arrived
 * meanwhile. A lookup runs at most one statement for each tenant, so a tenant with large requests delays no other.
 * `within` opens the database for one lookup. Throws 429 when a request was not served within 4 s.
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
      // `request.promise` rejects when the lookup fails.
      lookUp().catch(() => undefined);
      const rows = await request.promise;
      if (rows !== undefined) return rows;
    }
    throw new AppError('too-many-requests', 'too many large queries of this tenant are under way');
  };
}
