import type { Database } from '../database.js';
import { byText } from '../order.js';
import { rangeFilter } from './access-path.js';
import type { AccessPath, Group, PlaceRange } from './access-path.js';
import type { DeliverySummaryRow } from './delivery-model.js';
import type { DeliveryStatus } from './delivery.js';
import { SUMMARY } from './find-event.js';
import type { Direction } from './walk.js';

type AskModels = ReturnType<Database['within']>;

export interface RangeWish {
  readonly direction: Direction;
  /** Rows, from 1. */
  readonly limit: number;
}

/**
 * Statuses in the order in which deliveries come by them, those of one step at the same time: one that changes while a
 * page is read is in a status that is read later. Only a redelivery goes back, or from one end to another: all that it can
 * come to but `delivered`, which is read as late as that, is read again.
 */
const STEPS: readonly (readonly DeliveryStatus[])[] = [
  ['pending'],
  ['dead', 'cancelled'],
  ['delivered'],
  ['pending', 'dead', 'cancelled'],
];

const stepsOf = (statuses: AccessPath['statuses']): typeof STEPS =>
  statuses.length === 1 ? [statuses] : STEPS;

const readOne = (
  ask: AskModels,
  filter: Record<string, unknown>,
  { direction, limit }: RangeWish,
): Promise<readonly DeliverySummaryRow[]> =>
  ask(({ deliveries }) =>
    deliveries
      .find(filter, SUMMARY)
      .sort({ place: direction === 'newest-first' ? -1 : 1 })
      .limit(limit)
      // All of them in one answer: the driver asks for 101 and then for the rest.
      .batchSize(limit + 1)
      .lean<DeliverySummaryRow[]>()
      .exec(),
  );

/** At most `limit` rows of a range in a direction: the first of each group and status, put in order and cut. */
export async function readRange(
  ask: AskModels,
  { groups, statuses }: Pick<AccessPath, 'groups' | 'statuses'>,
  range: PlaceRange,
  wish: RangeWish,
): Promise<readonly DeliverySummaryRow[]> {
  // By id: what was read in two statuses is what it was last.
  const found = new Map<string, DeliverySummaryRow>();
  const readGroup = (group: Group, status: DeliveryStatus): Promise<readonly DeliverySummaryRow[]> =>
    readOne(ask, rangeFilter(group, status, range), wish);
  for (const step of stepsOf(statuses)) {
    const reading = groups.flatMap((group) => step.map((status) => readGroup(group, status)));
    for (const rows of await Promise.all(reading)) for (const row of rows) found.set(row._id, row);
  }
  const oldestFirst = [...found.values()].sort(byText(({ place }) => place));
  const ordered = wish.direction === 'newest-first' ? oldestFirst.toReversed() : oldestFirst;
  return ordered.slice(0, wish.limit);
}
