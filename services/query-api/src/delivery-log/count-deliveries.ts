import type { Database } from '../database.js';
import { accessPathOf, rangeFilter, rangeOf } from './access-path.js';
import type { DeliveryFilter } from './access-path.js';
import { KEPT_MS } from './delivery-model.js';
import { hasEventId, matchesOfEvent } from './delivery-pages.js';
import { timeText } from './place.js';

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

/** Where the entry lies that has `count` entries of its range before it; undefined: the range has no more than `count`. */
async function placeBehind(
  ask: AskModels,
  filter: Filter,
  count: number,
  maxTimeMS: number,
): Promise<string | undefined> {
  const [row] = await ask(({ deliveries }) =>
    deliveries
      .find(filter, { _id: 0, place: 1 }, { maxTimeMS })
      .sort({ place: 1 })
      .skip(count)
      .limit(1)
      .lean<{ readonly place: string }[]>()
      .exec(),
  );
  return row?.place;
}

/** The ranges that a filter means, each as what the database is asked for from a place of it on. */
function rangesOf(tenantId: string, filter: DeliveryFilter): readonly ((low?: string) => Filter)[] {
  const path = accessPathOf(tenantId, filter);
  const { low: first, high } = rangeOf(filter);
  const now = Date.now();
  // What was first heard of in the last 30 days cannot have expired: then the index need not be left.
  const mayHaveExpired = first < timeText(now - KEPT_MS);
  const unexpired = mayHaveExpired ? { expiresAt: { $gt: new Date(now) } } : {};
  return path.groups.flatMap((group) =>
    path.statuses.map((status) => (low = first): Filter => ({
      ...rangeFilter(group, status, { low, high }),
      ...path.residual,
      ...unexpired,
    })),
  );
}

/**
 * How many match, counted stride by stride until all are, there are `max`, or the time is over. The index alone answers
 * unless something has to be looked at in each document; then the database looks, within the deadline of `ask`.
 */
export async function countDeliveries(
  ask: AskModels,
  tenantId: string,
  filter: DeliveryFilter,
  { max, budgetMs, stride = STRIDE }: CountWish,
): Promise<DeliveryCount> {
  if (hasEventId(filter)) {
    const matches = await matchesOfEvent(ask, tenantId, filter, rangeOf(filter));
    return { matched: Math.min(max, matches.length), isLowerBound: matches.length > max };
  }
  const end = performance.now() + budgetMs;
  let matched = 0;
  for (const range of rangesOf(tenantId, filter)) {
    let place: string | undefined;
    do {
      if (matched >= max || performance.now() >= end) return { matched, isLowerBound: true };
      const rest = range(place);
      const wanted = Math.min(stride, max - matched);
      place = await placeBehind(ask, rest, wanted, budgetMs);
      matched +=
        place === undefined
          ? await ask(({ deliveries }) =>
              deliveries.countDocuments(rest, { limit: wanted, maxTimeMS: budgetMs }).exec(),
            )
          : wanted;
    } while (place !== undefined);
  }
  return { matched, isLowerBound: false };
}
