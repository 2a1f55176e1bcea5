import type { Database } from '../database.js';
import type { DeliveryFilter } from './access-path.js';
import { countDeliveries } from './count-deliveries.js';
import type { CountWish, DeliveryCount } from './count-deliveries.js';
import { toDelivery } from './delivery-model.js';
import type { DeliveryRow } from './delivery-model.js';
import type { Delivery } from './delivery.js';
import { pageNewestFirst, pageOldestFirst } from './delivery-pages.js';
import type { DeliveryPage, DeliveryPosition, OldestFirst, PageWish } from './delivery-pages.js';

export interface DeliveryStore {
  /** A delivery of this tenant; another tenant's is not found, by the same statement. */
  find(tenantId: string, deliveryId: string): Promise<Delivery | undefined>;
  page(tenantId: string, filter: DeliveryFilter, wish: PageWish): Promise<DeliveryPage>;
  /** See `pageOldestFirst`. */
  pageOldestFirst(
    tenantId: string,
    filter: DeliveryFilter,
    page: { readonly after?: DeliveryPosition | undefined; readonly limit: number },
  ): Promise<OldestFirst>;
  /** See `countDeliveries`. */
  count(tenantId: string, filter: DeliveryFilter, wish: CountWish): Promise<DeliveryCount>;
}

/** The deliveries in MongoDB, for work that must be done within `ms` from now, all statements together. */
export function deliveryStoreWithin(database: Pick<Database, 'within'>, ms: number): DeliveryStore {
  const ask = database.within(ms);
  return {
    find: async (tenantId, deliveryId) => {
      const row = await ask(({ deliveries }) =>
        deliveries.findOne({ _id: deliveryId, tenantId }).lean<DeliveryRow>().exec(),
      );
      return row && row.expiresAt.getTime() > Date.now() ? toDelivery(row) : undefined;
    },
    page: (tenantId, filter, wish) => pageNewestFirst(ask, tenantId, filter, wish),
    pageOldestFirst: (tenantId, filter, page) => pageOldestFirst(ask, tenantId, filter, page),
    count: (tenantId, filter, wish) => countDeliveries(ask, tenantId, filter, wish),
  };
}
