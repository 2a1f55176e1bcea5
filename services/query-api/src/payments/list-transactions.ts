import { PATTERNS } from '@webhooks/contracts';
import { invalidRequest, oneOf, readQuery } from '@webhooks/http-api';
import type { ApiRequest, ConcurrencyLimiter, Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { cursorAfter, cursorOf, LIMIT, LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { readUpTo, timeOfPlace, timeText } from '../documents.js';
import { DAY_MS } from '../endpoint-health/health-bucket.js';
import { readRow } from './event-store.js';
import type { EventRow, RunEventQuery } from './event-store.js';
import { MAX_EVENTS } from './find-events.js';
import { parseCents, viewEvent } from './view-transaction.js';

export interface ListTransactionsPorts {
  /** Limits the lists that the database runs at once. */
  readonly lists: Pick<ConcurrencyLimiter, 'run'>;
  /** Opens the database for one request. */
  readonly within: () => RunEventQuery;
}

/** Longest range of a list, from the contract: a month. */
const MAX_RANGE_MS = 31 * DAY_MS;
const MONEY = new RegExp(PATTERNS.money);
const { from, to, eventType, limit } = LIST_PARAMETERS;

export const TRANSACTIONS_PARAMETERS = {
  from,
  to,
  amount: {
    expected: 'must be reais with two decimals after a point, such as 110.00',
    parse: (text: string) => (MONEY.test(text) ? parseCents(text) : undefined),
  },
  eventType,
  status: oneOf(['REALIZADO', 'NAO_REALIZADO', 'DEVOLVIDO']),
  limit,
  cursor: cursorOf(new RegExp(PATTERNS.eventId)),
};

type Wanted = ReturnType<typeof readQuery<typeof TRANSACTIONS_PARAMETERS>>;

const refuse = (reason: string) => invalidRequest([{ property: 'from', reason }]);

/** Returns the end of a range: `to`, else the cursor's time, else now. So a range does not grow from page to page. */
const endOf = ({ to: end, cursor }: Wanted): number =>
  end?.getTime() ?? (cursor === undefined ? Date.now() : timeOfPlace(cursor) + 1);

/** Returns the places of a page. Throws 422 for a range that is empty or longer than 31 days. */
function placesOf(wanted: Wanted) {
  const { from: start, cursor } = wanted;
  if (start === undefined) throw refuse('is required');
  const [fromMs, toMs] = [start.getTime(), endOf(wanted)];
  if (fromMs >= toMs) throw refuse('must be before to');
  if (toMs - fromMs > MAX_RANGE_MS) throw refuse('must be at most 31 days before to');
  const end = timeText(toMs);
  return { $gte: timeText(fromMs), $lt: cursor !== undefined && cursor < end ? cursor : end };
}

const findRange = (runQuery: RunEventQuery, range: object, max: number): Promise<readonly EventRow[]> =>
  runQuery(({ events }) => readUpTo(events.find(range).maxTimeMS(REQUEST_MS).sort({ place: -1 }), max));

const viewRow = (row: EventRow) => viewEvent(readRow(row));

const isWanted =
  ({ eventType: type, amount: cents, status }: Wanted) =>
  (row: EventRow): boolean =>
    (type ?? row.eventType) === row.eventType &&
    (cents ?? row.cents) === row.cents &&
    (status === undefined || viewRow(row).status === status);

/**
 * Lists events by when they occurred, the newest first. The index has no other field. So with another filter a page looks
 * at up to `MAX_EVENTS` events; it may then be short, and its cursor continues behind the last of these.
 */
async function list({ identity, query }: ApiRequest, { lists, within }: ListTransactionsPorts) {
  const wanted = readQuery(query, TRANSACTIONS_PARAMETERS);
  const { limit: size = LIMIT, amount, eventType: type, status } = wanted;
  const range = { tenantId: identity.tenantId, place: placesOf(wanted) };
  const max = [amount, type, status].some((value) => value !== undefined) ? MAX_EVENTS : size;
  const rows = await lists.run(identity, () => findRange(within(), range, max + 1));
  const examined = rows.slice(0, max);
  const matching = examined.filter(isWanted(wanted));
  const shown = matching.slice(0, size);
  const isCut = matching.length > size;
  const last = isCut || rows.length > max ? (isCut ? shown : examined).at(-1)?.place : undefined;
  return {
    data: shown.map(viewRow),
    results: shown.length,
    ...(last === undefined ? {} : { nextCursor: cursorAfter(last) }),
  };
}

/** The operation that lists payments and reversals of a tenant; `openapi.yaml` describes it. */
export const createListOperation = (ports: ListTransactionsPorts): Operation => ({
  method: 'GET',
  path: '/integration/v1/pix/transactions',
  scopes: ['pix.read'],
  query: TRANSACTIONS_PARAMETERS,
  handle: async (request) => ({ status: 200, body: await list(request, ports) }),
});
