import type { NotificationKind } from '@webhooks/contracts';
import { mongo } from 'mongoose';
import type { Database } from '../database.js';
import { toDelivery } from './delivery-documents.js';
import type { DeliveryRow } from './delivery-documents.js';
import type { Delivery, DeliveryStatus } from './delivery-state.js';
import { timeText } from '../documents.js';
import { findByIds } from '../payments/event-store.js';
import type { RunEventQuery } from '../payments/event-store.js';
import { findEventIds } from '../payments/find-events.js';
import { omitUndefined } from '../omit-undefined.js';

/** Selects deliveries of a tenant. All fields that are present must match. */
export interface DeliveryFilter {
  readonly ref?: string;
  readonly eventId?: string;
  /** Deliveries of events that name this Pix. */
  readonly endToEndId?: string;
  /** Deliveries of events that name this charge, or a Pix that paid it. */
  readonly txId?: string;
  readonly eventType?: NotificationKind;
  readonly status?: DeliveryStatus;
  /** Earliest `createdAt`, inclusive. */
  readonly from?: Date;
  /** Latest `createdAt`, exclusive. */
  readonly to?: Date;
}

/** A filter in which the ids of events replace the payment. */
interface ResolvedFilter extends Omit<DeliveryFilter, 'eventId' | 'endToEndId' | 'txId'> {
  /** Absent: any event. */
  readonly eventIds?: readonly string[];
}

/** Replaces the payment of a filter by the ids of its events. Throws 422 for more than 1,000 events. */
export async function resolveEvents(
  runQuery: RunEventQuery,
  tenantId: string,
  { eventId, endToEndId, txId, ...rest }: DeliveryFilter,
): Promise<ResolvedFilter> {
  if (endToEndId === undefined && txId === undefined)
    return eventId === undefined ? rest : { ...rest, eventIds: [eventId] };
  const found = await findEventIds(runQuery, tenantId, { endToEndId, txId });
  return { ...rest, eventIds: found.filter((id) => eventId === undefined || id === eventId) };
}

/** The order of a page, and the place after which it begins; absent: the first page. */
interface PageStart {
  readonly order: 'newest-first' | 'oldest-first';
  readonly after?: string | undefined;
}

/** Returns the range of places in the index; empty when there is no bound. */
function placesOf({ from, to }: ResolvedFilter, { order, after }: PageStart) {
  const ends = [to && timeText(to.getTime()), order === 'newest-first' ? after : undefined];
  const $lt = ends.filter((place) => place !== undefined).sort()[0];
  const $gt = order === 'oldest-first' ? after : undefined;
  return omitUndefined({ $gte: from && timeText(from.getTime()), $gt, $lt });
}

/** Returns the conditions of a query within one tenant. `deliveryModelOn` has an index for each. */
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

export interface PageRequest extends PageStart {
  readonly limit: number;
}

export interface DeliveryPage {
  /** In the requested order, each with its last attempt only. */
  readonly rows: readonly Delivery[];
  /** The next page begins after this place; absent on the last page. */
  readonly next?: string;
}

export interface DeliveryCount {
  readonly matched: number;
  /** True when counting ended early: at least `matched` deliveries match. */
  readonly isLowerBound: boolean;
}

export type DeliveryStore = ReturnType<typeof deliveryStoreWithin>;

/** MongoDB's code for a statement that exceeded its `maxTimeMS`. */
const MAX_TIME_MS_EXPIRED = 50;

const isOverTime = (error: unknown): boolean =>
  error instanceof mongo.MongoServerError && error.code === MAX_TIME_MS_EXPIRED;

/** Opens the deliveries in MongoDB. All statements together must end within `ms` from now. */
export function deliveryStoreWithin(database: Pick<Database, 'within'>, ms: number) {
  const runQuery = database.within(ms);
  return {
    /** Finds a delivery of this tenant only. */
    find: async (tenantId: string, deliveryId: string) => {
      const row = await runQuery(({ deliveries }) =>
        deliveries.findOne({ _id: deliveryId, tenantId }).lean<DeliveryRow>().exec(),
      );
      return row ? toDelivery(row) : undefined;
    },

    page: async (
      tenantId: string,
      filter: DeliveryFilter,
      { limit, ...start }: PageRequest,
    ): Promise<DeliveryPage> => {
      const resolved = await resolveEvents(runQuery, tenantId, filter);
      const found = await runQuery(({ deliveries }) =>
        deliveries
          .find(conditionsOf(tenantId, resolved, start))
          .slice('attempts', -1)
          .maxTimeMS(ms)
          .sort({ place: start.order === 'newest-first' ? -1 : 1 })
          // One row more shows whether there is a next page. The batch size makes all rows come in one reply; by
          // default
          // the driver fetches 101 rows and then the rest.
          .limit(limit + 1)
          .batchSize(limit + 2)
          .lean<DeliveryRow[]>()
          .exec(),
      );
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      return { rows: rows.map(toDelivery), ...(last ? { next: last.place } : {}) };
    },

    /** Finds events by the same deadline; see `findByIds`. */
    eventsOf: (tenantId: string, eventIds: readonly string[]) => findByIds(runQuery, tenantId, eventIds),

    /**
     * Counts up to `max`. After `budgetMs` the database ends the statement, and the result is 0 with
     * `isLowerBound`.
     */
    count: (
      tenantId: string,
      filter: ResolvedFilter,
      max: number,
      budgetMs: number,
    ): Promise<DeliveryCount> =>
      runQuery(async ({ deliveries }) => {
        const conditions = conditionsOf(tenantId, filter, { order: 'oldest-first' });
        const options = { limit: max, maxTimeMS: budgetMs };
        try {
          const matched = await deliveries.countDocuments(conditions, options).exec();
          return { matched, isLowerBound: matched === max };
        } catch (error) {
          if (isOverTime(error)) return { matched: 0, isLowerBound: true };
          throw error;
        }
      }),
  };
}
