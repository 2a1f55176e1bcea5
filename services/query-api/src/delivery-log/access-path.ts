import type { EventType } from '@webhooks/contracts';
import type { DeliveryStatus } from './delivery.js';
import { troubledPrefix, troubledRefPrefix } from './delivery-model.js';
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
export type Residual = Pick<DeliveryFilter, 'ref' | 'eventType' | 'status'>;

/** How deliveries are found: equal fields and then a range of one, exactly the leading fields of one index. */
export interface AccessPath {
  readonly equal: Readonly<Record<string, string>>;
  readonly field: 'place' | 'troubled' | 'troubledRef';
  /** Before each place in the field. */
  readonly prefix: string;
  readonly residual: Residual;
  /** Deliveries of the tenant for one that matches, as a guess: how large the first window is that a page reads. */
  readonly perMatch: number;
}

type Members<T> = { readonly [K in keyof T]: T[K] | undefined };

const given = (residual: Partial<Members<Residual>>): Residual =>
  Object.fromEntries(Object.entries(residual).filter(([, value]: [string, unknown]) => value !== undefined));

/** One of four event types; one of so many endpoints; what is not delivered is rarer still. */
const OF_TYPE = 4;
const OF_REF = 32;
const TROUBLED = 64;

/** The index that serves a filter best: what is not delivered is rare and has indexes of its own, with the ref and without. */
export function accessPathOf(
  tenantId: string,
  { ref, eventType, status }: Omit<DeliveryFilter, 'eventId'>,
): AccessPath {
  if (status !== undefined && status !== 'delivered') {
    const found = { equal: {}, residual: given({ eventType }), perMatch: TROUBLED };
    return ref === undefined
      ? { ...found, field: 'troubled', prefix: troubledPrefix(tenantId, status) }
      : { ...found, field: 'troubledRef', prefix: troubledRefPrefix(tenantId, status, ref) };
  }
  const equal = ref === undefined ? { tenantId } : { tenantId, ref };
  const perType = eventType === undefined ? 1 : OF_TYPE;
  const perMatch = ref === undefined ? perType : OF_REF;
  return { equal, field: 'place', prefix: '', residual: given({ eventType, status }), perMatch };
}

/** The times of a filter as places. */
export const rangeOf = ({ from, to }: Pick<DeliveryFilter, 'from' | 'to'>): PlaceRange => ({
  low: from ? timeText(from.getTime()) : FIRST_PLACE,
  high: to ? timeText(to.getTime()) : LAST_PLACE,
});

/** The documents of a range as the database is asked for them. */
export const rangeFilter = (
  { equal, field, prefix }: AccessPath,
  { low, high }: PlaceRange,
): Record<string, unknown> => ({ ...equal, [field]: { $gte: `${prefix}${low}`, $lt: `${prefix}${high}` } });
