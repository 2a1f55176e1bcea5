import { mongo } from 'mongoose';
import type { Database } from '../database.js';
import { conditionsOf, resolveEvents } from './delivery-filter.js';
import type { DeliveryFilter, PageStart, ResolvedFilter } from './delivery-filter.js';
import { toDelivery } from './delivery-model.js';
import type { DeliveryRow } from './delivery-model.js';
import type { Delivery } from './delivery.js';

export interface PageRequest extends PageStart {
  readonly limit: number;
}

export interface DeliveryPage {
  /** In the order that was asked for, each with its last attempt only. */
  readonly rows: readonly Delivery[];
  /** The place after which the next page begins; absent when there is nothing behind. */
  readonly next?: string;
}

/** How many deliveries match. */
export interface DeliveryCount {
  readonly matched: number;
  /** Whether counting ended before all was counted: there are at least so many. */
  readonly isLowerBound: boolean;
}

interface CountWish {
  /** Counted to so many at most. */
  readonly max: number;
  /** The database ends counting after it, and what it had counted is not known. */
  readonly budgetMs: number;
}

export type DeliveryStore = ReturnType<typeof deliveryStoreWithin>;

/** MongoDB's code for a statement that its own deadline ended. */
const MAX_TIME_MS_EXPIRED = 50;

const isOverTime = (error: unknown): boolean =>
  error instanceof mongo.MongoServerError && error.code === MAX_TIME_MS_EXPIRED;

/** The deliveries in MongoDB, for work that must be done within `ms` from now, all statements together. */
export function deliveryStoreWithin(database: Pick<Database, 'within'>, ms: number) {
  const ask = database.within(ms);
  return {
    /** A delivery of this tenant; another tenant's is not found, by the same statement. */
    find: async (tenantId: string, deliveryId: string) => {
      const row = await ask(({ deliveries }) =>
        deliveries.findOne({ _id: deliveryId, tenantId }).lean<DeliveryRow>().exec(),
      );
      return row ? toDelivery(row) : undefined;
    },

    /** What matches, in order. */
    page: async (
      tenantId: string,
      filter: DeliveryFilter,
      { limit, ...start }: PageRequest,
    ): Promise<DeliveryPage> => {
      const resolved = await resolveEvents(ask, tenantId, filter);
      const found = await ask(({ deliveries }) =>
        deliveries
          .find(conditionsOf(tenantId, resolved, start))
          .slice('attempts', -1)
          .maxTimeMS(ms)
          .sort({ place: start.order === 'newest-first' ? -1 : 1 })
          // One more tells whether there is a next page; all in one answer: the driver asks for 101 and then for the rest.
          .limit(limit + 1)
          .batchSize(limit + 2)
          .lean<DeliveryRow[]>()
          .exec(),
      );
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      return { rows: rows.map(toDelivery), ...(last ? { next: last.place } : {}) };
    },

    count: (tenantId: string, filter: ResolvedFilter, { max, budgetMs }: CountWish): Promise<DeliveryCount> =>
      ask(async ({ deliveries }) => {
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
