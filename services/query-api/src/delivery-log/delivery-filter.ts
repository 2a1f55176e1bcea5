import { EVENT_TYPES } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { DELIVERY_STATUSES } from './delivery.js';
import type { DeliveryStatus } from './delivery.js';
import { timeText } from './place.js';

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

/** Where a page begins: behind this place in its order. */
export interface PageStart {
  readonly order: 'newest-first' | 'oldest-first';
  readonly after?: string | undefined;
}

/** Places of the index, at or after `$gte`, after `$gt` and before `$lt`; empty when everything is meant. */
function placesOf({ from, to }: DeliveryFilter, { order, after }: PageStart): Record<string, string> {
  const ends = [to && timeText(to.getTime()), order === 'newest-first' ? after : undefined];
  const end = ends.filter((place) => place !== undefined).sort()[0];
  return {
    ...(from ? { $gte: timeText(from.getTime()) } : {}),
    ...(after !== undefined && order === 'oldest-first' ? { $gt: after } : {}),
    ...(end === undefined ? {} : { $lt: end }),
  };
}

/**
 * What the database is asked for, always within one tenant. Each filter names the leading fields of one index
 * (delivery-model.ts): what is not said about the type or the status may be each of a few, so that MongoDB merges a few
 * sorted scans instead of sorting (manual, "The ESR rule": `$in` with fewer than 201 values).
 */
export function conditionsOf(
  tenantId: string,
  filter: DeliveryFilter,
  start: PageStart,
): Readonly<Record<string, unknown>> {
  const { from: _from, to: _to, status, ...equal } = filter;
  const places = placesOf(filter, start);
  const place = Object.keys(places).length > 0 ? { place: places } : {};
  const asked = { tenantId, ...equal, ...(status === undefined ? {} : { 'state.status': status }), ...place };
  if (filter.eventId !== undefined) return asked;
  const anyType = filter.ref === undefined ? { eventType: { $in: EVENT_TYPES } } : {};
  return { ...anyType, 'state.status': { $in: DELIVERY_STATUSES }, ...asked };
}
