import type { EventType } from '@webhooks/contracts';
import type { DeliveryStatus } from './delivery.js';
import { timeText } from './place.js';
import { findEventIds } from '../payments/find-transactions.js';
import type { AskEvents } from '../payments/event-store.js';
import { present } from '../present.js';

/** Which deliveries of a tenant are meant; all members that are given must match. */
export interface DeliveryFilter {
  readonly ref?: string;
  readonly eventId?: string;
  /** Of an event that names this Pix. */
  readonly endToEndId?: string;
  /** Of an event that names this charge, or a Pix of it. */
  readonly txId?: string;
  readonly eventType?: EventType;
  readonly status?: DeliveryStatus;
  /** `createdAt` at or after. */
  readonly from?: Date;
  /** `createdAt` before. */
  readonly to?: Date;
}

/** A filter whose events are known by their ids. */
export interface ResolvedFilter extends Omit<DeliveryFilter, 'eventId' | 'endToEndId' | 'txId'> {
  /** Absent: of any event. */
  readonly eventIds?: readonly string[];
}

/** Finds the events that a filter names by their payment. */
export async function resolveEvents(
  ask: AskEvents,
  tenantId: string,
  { eventId, endToEndId, txId, ...rest }: DeliveryFilter,
): Promise<ResolvedFilter> {
  if (endToEndId === undefined && txId === undefined)
    return eventId === undefined ? rest : { ...rest, eventIds: [eventId] };
  const found = await findEventIds(ask, tenantId, { endToEndId, txId });
  return { ...rest, eventIds: found.filter((id) => eventId === undefined || id === eventId) };
}

/** Where a page begins: behind this place in its order. */
export interface PageStart {
  readonly order: 'newest-first' | 'oldest-first';
  readonly after?: string | undefined;
}

/** Places of the index, at or after `$gte`, after `$gt` and before `$lt`; empty when everything is meant. */
function placesOf({ from, to }: ResolvedFilter, { order, after }: PageStart) {
  const ends = [to && timeText(to.getTime()), order === 'newest-first' ? after : undefined];
  const $lt = ends.filter((place) => place !== undefined).sort()[0];
  const $gt = order === 'oldest-first' ? after : undefined;
  return present({ $gte: from && timeText(from.getTime()), $gt, $lt });
}

/** What the database is asked for, always within one tenant; delivery-model.ts has an index for each. */
export function conditionsOf(
  tenantId: string,
  filter: ResolvedFilter,
  start: PageStart,
): Readonly<Record<string, unknown>> {
  const { from: _from, to: _to, status, eventIds, ...equal } = filter;
  const places = placesOf(filter, start);
  const place = Object.keys(places).length > 0 ? { place: places } : {};
  const byStatus = status === 'delivered' ? { 'state.status': status } : { undelivered: status };
  const statuses = status === undefined ? {} : byStatus;
  const events = eventIds ? { eventId: { $in: eventIds } } : {};
  return { tenantId, ...equal, ...statuses, ...events, ...place };
}
