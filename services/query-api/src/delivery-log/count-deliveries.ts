import { mongo } from 'mongoose';
import type { Database } from '../database.js';
import { accessPathOf, rangeFilter, rangeOf } from './access-path.js';
import type { DeliveryFilter } from './access-path.js';
import { KEPT_MS } from './delivery-model.js';
import { hasEventId, matchesOfEvent } from './delivery-pages.js';
import { LAST_PLACE, timeText } from './place.js';

type AskModels = ReturnType<Database['within']>;

/** How many deliveries match. */
export interface DeliveryCount {
  readonly matched: number;
  /** Whether counting ended before all was counted: there are at least so many. */
  readonly isLowerBound: boolean;
}

export interface CountWish {
  /** Counted to so many at most. */
  readonly max: number;
  /** No further statement is begun after it; what was counted by then is a lower bound. */
  readonly budgetMs: number;
  /** Entries that one statement counts (default `STRIDE`). */
  readonly stride?: number;
}

/**
 * Entries that one statement counts: the slowest database known takes 75 to 160 µs for each, a real one about 1. A single
 * statement over all of them would have to be waited for to its end, or its work be lost.
 */
const STRIDE = 2_000;

type Filter = Readonly<Record<string, unknown>>;

/** Behind every place. */
const END = LAST_PLACE;

/** MongoDB's code for a statement that its own deadline ended. */
const MAX_TIME_MS_EXPIRED = 50;

/** What a statement answers; undefined when it was not done within its own deadline. */
const inTime = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof mongo.MongoServerError && error.code === MAX_TIME_MS_EXPIRED) return undefined;
    throw error;
  });

interface Statement {
  readonly filter: Filter;
  /** Entries to count at most. */
  readonly limit: number;
  readonly maxTimeMS: number;
}

/** Where the entry lies that has `limit` entries of its range before it; `END`: the range has no more than those. */
async function placeBehind(
  ask: AskModels,
  { filter, limit, maxTimeMS }: Statement,
): Promise<string | undefined> {
  const rows = await ask(({ deliveries }) =>
    inTime(
      deliveries
        .find(filter, { _id: 0, place: 1 }, { maxTimeMS })
        .sort({ place: 1 })
        .skip(limit)
        .limit(1)
        .lean<{ readonly place: string }[]>()
        .exec(),
    ),
  );
  return rows && (rows[0]?.place ?? END);
}

const countAtMost = (ask: AskModels, { filter, ...options }: Statement): Promise<number | undefined> =>
  ask(({ deliveries }) => inTime(deliveries.countDocuments(filter, options).exec()));

interface Ranges {
  /** Each as what the database is asked for from a place of it on. */
  readonly ranges: readonly ((low?: string) => Filter)[];
  /** Whether what the index does not tell is true of nearly all that it finds. */
  readonly isExact: boolean;
}

/** The ranges that a filter means. */
function rangesOf(tenantId: string, filter: DeliveryFilter): Ranges {
  const path = accessPathOf(tenantId, filter);
  const { low: first, high } = rangeOf(filter);
  const now = Date.now();
  // What was first heard of in the last 30 days cannot have expired: then the index need not be left.
  const mayHaveExpired = first < timeText(now - KEPT_MS);
  const unexpired = mayHaveExpired ? { expiresAt: { $gt: new Date(now) } } : {};
  const residual = { ...path.residual, ...unexpired };
  const ranges = path.groups.flatMap((group) =>
    path.statuses.map((status) => (low = first): Filter => ({
      ...rangeFilter(group, status, { low, high }),
      ...residual,
    })),
  );
  return { ranges, isExact: path.residual.eventType === undefined };
}

interface Stride {
  readonly counted: number;
  /** Where the next one begins; undefined: the range is counted to its end. */
  readonly next?: string;
}

/** One stride of a range; undefined when it was not done in time. */
async function countStride(
  ask: AskModels,
  statement: Statement,
  isExact: boolean,
): Promise<Stride | undefined> {
  // Where each document has to be looked at, they are not looked at twice: one statement counts them all.
  const next = isExact ? await placeBehind(ask, statement) : END;
  if (next === undefined) return undefined;
  if (next !== END) return { counted: statement.limit, next };
  const counted = await countAtMost(ask, statement);
  if (counted === undefined) return undefined;
  // There may be more behind what was asked for.
  return !isExact && counted === statement.limit ? { counted, next: END } : { counted };
}

async function countRanges(
  ask: AskModels,
  { ranges, isExact }: Ranges,
  { max, budgetMs, stride = STRIDE }: CountWish,
): Promise<DeliveryCount> {
  const end = performance.now() + budgetMs;
  let matched = 0;
  for (const range of ranges) {
    let from: string | undefined;
    do {
      if (matched >= max || performance.now() >= end) return { matched, isLowerBound: true };
      const limit = Math.min(isExact ? stride : max, max - matched);
      const statement = { filter: range(from), limit, maxTimeMS: budgetMs };
      const done = await countStride(ask, statement, isExact);
      if (!done) return { matched, isLowerBound: true };
      matched += done.counted;
      from = done.next;
    } while (from !== undefined);
  }
  return { matched, isLowerBound: false };
}

/**
 * How many match, counted stride by stride until all are, there are `max`, or the time is over. The index alone answers
 * unless something has to be looked at in each document; then the database looks, for `budgetMs` at most.
 */
export async function countDeliveries(
  ask: AskModels,
  tenantId: string,
  filter: DeliveryFilter,
  wish: CountWish,
): Promise<DeliveryCount> {
  if (!hasEventId(filter)) return countRanges(ask, rangesOf(tenantId, filter), wish);
  const { length } = await matchesOfEvent(ask, tenantId, filter, rangeOf(filter));
  return { matched: Math.min(wish.max, length), isLowerBound: length > wish.max };
}
