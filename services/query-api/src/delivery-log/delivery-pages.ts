import type { Database } from '../database.js';
import { accessPathOf, rangeOf } from './access-path.js';
import type { AccessPath, DeliveryFilter, PlaceRange } from './access-path.js';
import type { DeliverySummaryRow } from './delivery-model.js';
import { findOfEvent } from './find-event.js';
import { byText } from '../order.js';
import { after, placeOf } from './place.js';
import { FINE } from './milestone-model.js';
import { findMilestone } from './milestones.js';
import { readRange } from './read-range.js';
import { walk } from './walk.js';
import type { Direction, WalkPorts } from './walk.js';

type AskModels = ReturnType<Database['within']>;

/** Documents that a page may look at besides those that it returns. */
export const MAX_PASSED_OVER = 200;
/** Documents that one statement reads where no page bounds it. */
const MAX_STATEMENT = 1_000;

export interface DeliveryPage {
  /** The newest first. */
  readonly rows: readonly DeliverySummaryRow[];
  /** The place after which the next page begins; absent when there is nothing behind. */
  readonly next?: string;
}

export interface PageWish {
  /** A place; the page begins after it. */
  readonly after?: string;
  readonly limit: number;
}

const isMeant = (
  row: DeliverySummaryRow,
  { ref, eventType, status }: Omit<DeliveryFilter, 'from' | 'to'>,
  now: number,
): boolean =>
  row.expiresAt.getTime() > now &&
  (ref === undefined || row.ref === ref) &&
  (eventType === undefined || row.eventType === eventType) &&
  (status === undefined || row.status === status);

/** Documents that one statement looks at where only some match, at least: else a page would end with many small ones. */
const MIN_LOOK = 64;

const isExact = ({ residual }: AccessPath): boolean => residual.eventType === undefined;

/** Documents to look at so that `missing` are found, as a guess: mostly an endpoint has deliveries of one type. */
const lookAt = (path: AccessPath, missing: number): number =>
  isExact(path) ? missing : Math.max(MIN_LOOK, missing);

/** Milestones of a first window that should hold a page: two more than it holds on average, so that few are too small. */
const firstCountOf = ({ perMatch }: AccessPath, limit: number): number =>
  Math.ceil(((limit + 1) * perMatch) / FINE) + 2;

const readersOf = (
  ask: AskModels,
  tenantId: string,
  path: AccessPath,
  { direction, pageLimit }: { readonly direction: Direction; readonly pageLimit: number },
): Pick<WalkPorts<DeliverySummaryRow>, 'read' | 'milestone' | 'firstCount'> => ({
  read: (range, limit) => readRange(ask, path, range, { direction, limit }),
  firstCount: firstCountOf(path, pageLimit),
  milestone: (range, count) => findMilestone(ask, tenantId, range, { direction, count }),
});

/** The deliveries of one event that match, in the order of their places. */
export async function matchesOfEvent(
  ask: AskModels,
  tenantId: string,
  filter: DeliveryFilter & { readonly eventId: string },
  { low, high }: PlaceRange,
): Promise<readonly DeliverySummaryRow[]> {
  const now = Date.now();
  const rows = await findOfEvent(ask, tenantId, filter);
  return rows
    .filter((row) => isMeant(row, filter, now) && row.place >= low && row.place < high)
    .sort(byText(({ place }) => place));
}

export const hasEventId = (filter: DeliveryFilter): filter is DeliveryFilter & { readonly eventId: string } =>
  filter.eventId !== undefined;

const cutPage = (found: readonly DeliverySummaryRow[], limit: number): DeliveryPage => {
  const last = found[limit - 1];
  return found.length > limit && last
    ? { rows: found.slice(0, limit), next: last.place }
    : { rows: found.slice(0, limit) };
};

/**
 * A page of what matches, the newest first. Of each range of its index it looks at a page and, where the index does not tell
 * the type, at `MAX_PASSED_OVER` documents at most (of one event at as many as the tenant has endpoints); when too few of them match it is short, and the next one goes on behind them.
 * Deliveries that arrive meanwhile are newer or older than a place, so none that was there is left out.
 */
export async function pageNewestFirst(
  ask: AskModels,
  tenantId: string,
  filter: DeliveryFilter,
  { after: place, limit }: PageWish,
): Promise<DeliveryPage> {
  const { low, high } = rangeOf(filter);
  const range = { low, high: place !== undefined && place < high ? place : high };
  if (hasEventId(filter)) {
    const matches = await matchesOfEvent(ask, tenantId, filter, range);
    return cutPage(matches.toReversed(), limit);
  }
  const path = accessPathOf(tenantId, filter);
  const now = Date.now();
  const found: DeliverySummaryRow[] = [];
  let budget = limit + MAX_PASSED_OVER;
  let lastSeen: string | undefined;
  const isAtEnd = await walk(range, 'newest-first', {
    ...readersOf(ask, tenantId, path, { direction: 'newest-first', pageLimit: limit }),
    want: () => (found.length > limit ? 0 : Math.min(budget, lookAt(path, limit + 1 - found.length))),
    take: (rows) => {
      budget -= rows.length;
      lastSeen = rows.at(-1)?.place ?? lastSeen;
      found.push(...rows.filter((row) => isMeant(row, path.residual, now)));
    },
  });
  const page = cutPage(found, limit);
  return isAtEnd || page.next !== undefined || lastSeen === undefined ? page : { ...page, next: lastSeen };
}

/** Place of a delivery that is known by its time and id. */
export interface DeliveryPosition {
  readonly createdAt: Date;
  readonly deliveryId: string;
}

/** What matches, the oldest first. */
export interface OldestFirst {
  readonly rows: readonly DeliverySummaryRow[];
  /** Where the next page begins; absent when there is nothing behind. */
  readonly next?: DeliveryPosition;
}

/** Documents that a page of work in the background looks at, at most. */
const MAX_LOOKED_AT = 10_000;

const positionOf = ({ createdAt, _id }: DeliverySummaryRow): DeliveryPosition => ({
  createdAt,
  deliveryId: _id,
});

/** The page of what was found, which ends behind its last row, or behind the last that was looked at when it is short. */
function cutOldest(
  found: readonly DeliverySummaryRow[],
  limit: number,
  seen: { readonly isAtEnd: boolean; readonly last: DeliverySummaryRow | undefined },
): OldestFirst {
  const rows = found.slice(0, limit);
  if (seen.isAtEnd && found.length <= limit) return { rows };
  const end = rows.length === limit ? rows.at(-1) : seen.last;
  return end ? { rows, next: positionOf(end) } : { rows };
}

/**
 * A page of what matches, the oldest first, for work in the background. It looks at some 10,000 documents at most: a page
 * can be short, even empty, and others behind it not.
 */
export async function pageOldestFirst(
  ask: AskModels,
  tenantId: string,
  filter: DeliveryFilter,
  page: { readonly after?: DeliveryPosition | undefined; readonly limit: number },
): Promise<OldestFirst> {
  const { low, high } = rangeOf(filter);
  const begin = page.after ? after(placeOf(page.after.createdAt.getTime(), page.after.deliveryId)) : low;
  const range = { low: begin > low ? begin : low, high };
  if (hasEventId(filter)) {
    const matches = await matchesOfEvent(ask, tenantId, filter, range);
    return cutOldest(matches, page.limit, { isAtEnd: true, last: undefined });
  }
  const path = accessPathOf(tenantId, filter);
  const now = Date.now();
  const found: DeliverySummaryRow[] = [];
  let last: DeliverySummaryRow | undefined;
  let budget = MAX_LOOKED_AT;
  const isAtEnd = await walk(range, 'oldest-first', {
    ...readersOf(ask, tenantId, path, { direction: 'oldest-first', pageLimit: page.limit }),
    want: () => {
      const missing = budget > 0 ? page.limit - found.length : 0;
      return missing > 0 && !isExact(path) ? MAX_STATEMENT : missing;
    },
    take: (rows) => {
      budget -= rows.length;
      last = rows.at(-1) ?? last;
      found.push(...rows.filter((row) => isMeant(row, path.residual, now)));
    },
  });
  return cutOldest(found, page.limit, { isAtEnd, last });
}
