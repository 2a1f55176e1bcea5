import { AppError } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { readDeliveryId } from '../path-ids.js';
import type { DeliveryStore } from './delivery-store.js';
import { LIST_PARAMETERS, cursorAfter, readListQuery } from './list-query.js';
import { viewDelivery, viewSummary } from './view-delivery.js';
import type { DeliverySummary, DeliveryView } from './view-delivery.js';

export interface DeliveryList {
  /** The newest first. */
  readonly data: readonly DeliverySummary[];
  /** Length of `data`. */
  readonly results: number;
  /** Present when there may be more. */
  readonly nextCursor?: string;
}

const COLLECTION = '/integration/v1/webhooks/deliveries';
const READ = ['delivery.read'] as const;

async function list(tenantId: string, query: URLSearchParams, store: DeliveryStore): Promise<DeliveryList> {
  const { filter, wish } = readListQuery(query);
  const { rows, next } = await store.page(tenantId, filter, wish);
  return {
    data: rows.map(viewSummary),
    results: rows.length,
    ...(next === undefined ? {} : { nextCursor: cursorAfter(next) }),
  };
}

async function get(tenantId: string, deliveryId: string, store: DeliveryStore): Promise<DeliveryView> {
  const delivery = await store.find(tenantId, deliveryId);
  if (!delivery) throw new AppError('not-found', 'there is no delivery with this id');
  return viewDelivery(delivery);
}

/** The operations that read the delivery log; `storeFor` gives the store for one request. */
export const createDeliveryOperations = (storeFor: () => DeliveryStore): readonly Operation[] => [
  {
    method: 'GET',
    path: COLLECTION,
    scopes: READ,
    query: LIST_PARAMETERS,
    handle: async ({ identity, query }) => ({
      status: 200,
      body: await list(identity.tenantId, query, storeFor()),
    }),
  },
  {
    method: 'GET',
    path: `${COLLECTION}/:deliveryId`,
    scopes: READ,
    handle: async (request) => ({
      status: 200,
      body: await get(request.identity.tenantId, readDeliveryId(request), storeFor()),
    }),
  },
];
