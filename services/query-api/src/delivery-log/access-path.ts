import { EVENT_TYPES } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { DELIVERY_STATUSES } from './delivery.js';
import type { DeliveryStatus } from './delivery.js';
import { FIRST_PLACE, LAST_PLACE, timeText } from './place.js';

/** Which deliveries of a tenant are meant; all members that are given must match. */
export interface DeliveryFilter {
  readonly ref?: string;
  readonly eventId?: string;
  readonly eventType?: EventType;
  readonly status?: DeliveryStatus;
  /** `createdAt` at or after. */
  readonly from?: Date;
  /** `createdAt` before. */
  readonly to?: Date;
}

/** Places from `low` (inclusive) to `high` (exclusive). */
export interface PlaceRange {
  readonly low: string;
  readonly high: string;
}

/** The part of a filter that is not served by the index, to be looked at in each document. */
export type Residual = Pick<DeliveryFilter, 'eventType'>;

/** The leading fields of one index, each equal to a text; behind them lie places in order. */
export type Group = Readonly<Record<string, string>>;

/** Where deliveries are found: in each of the groups with each of the statuses, 16 ranges of one index at most. */
export interface AccessPath {
  readonly groups: readonly Group[];
  readonly statuses: readonly DeliveryStatus[];
  readonly residual: Residual;
  /** Deliveries of the tenant for one that matches, as a guess: how large the first window is that a page reads. */
  readonly perMatch: number;
}

/** One of four event types; one of so many endpoints; what is not delivered is rarer still. */
const OF_TYPE = EVENT_TYPES.length;
const OF_REF = 32;
const TROUBLED = 64;

function perMatchOf({ ref, eventType, status }: DeliveryFilter): number {
  if (status !== undefined && status !== 'delivered') return TROUBLED;
  if (ref !== undefined) return OF_REF;
  return eventType === undefined ? 1 : OF_TYPE;
}

/**
 * Two indexes serve every filter: what is not said about the event type or the status is asked for once for each that
 * there is. An endpoint mostly has one event type for good, so that none of its documents is looked at in vain.
 */
export function accessPathOf(tenantId: string, filter: Omit<DeliveryFilter, 'eventId'>): AccessPath {
  const { ref, eventType, status } = filter;
  const statuses = status === undefined ? DELIVERY_STATUSES : [status];
  const perMatch = perMatchOf(filter);
  if (ref !== undefined) {
    const residual = eventType === undefined ? {} : { eventType };
    return { groups: [{ tenantId, ref }], statuses, residual, perMatch };
  }
  const types = eventType === undefined ? EVENT_TYPES : [eventType];
  const groups = types.map((type) => ({ tenantId, eventType: type }));
  return { groups, statuses, residual: {}, perMatch };
}

/** The times of a filter as places. */
export const rangeOf = ({ from, to }: Pick<DeliveryFilter, 'from' | 'to'>): PlaceRange => ({
  low: from ? timeText(from.getTime()) : FIRST_PLACE,
  high: to ? timeText(to.getTime()) : LAST_PLACE,
});

/** The documents of a group, a status and a range as the database is asked for them: all fields of one index. */
export const rangeFilter = (
  group: Group,
  status: DeliveryStatus,
  { low, high }: PlaceRange,
): Record<string, unknown> => ({ ...group, status, place: { $gte: low, $lt: high } });
