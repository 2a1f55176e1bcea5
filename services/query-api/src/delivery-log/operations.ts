import { AppError } from '@webhooks/http-api';
import type { ApiRequest, ConcurrencyLimiter, Operation } from '@webhooks/http-api';
import type { Configurations } from '../configurations.js';
import type { DeliveryPage, DeliveryStore } from './delivery-store.js';
import { cursorAfter, LIST_PARAMETERS, readListQuery } from './list-query.js';
import { readOrCatchUp } from '../projection/catch-up.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import { readDeliveryId } from '../request-parameters.js';
import type { Delivery } from './delivery-state.js';
import { viewDelivery, viewSummary } from './view-delivery.js';
import type { Related } from './view-delivery.js';

export interface DeliveryPorts {
  /** Limits the lists that the database runs at once. */
  readonly lists: Pick<ConcurrencyLimiter, 'run'>;
  readonly configurations: Pick<Configurations, 'known'>;
  /** Opens the store for one request. */
  readonly storeFor: () => DeliveryStore;
  /** Waits until all attempts that are on the topic now are projected. `withEvents`: waits for the events, too. */
  readonly catchUp: (withEvents: boolean) => Promise<CatchUpResult>;
}

const COLLECTION = '/integration/v1/webhooks/deliveries';
const READ = ['delivery.read'] as const;

/** Returns a function that finds the event and the webhook of each of these deliveries, by one statement for all. */
async function relate(
  tenantId: string,
  deliveries: readonly Delivery[],
  store: DeliveryStore,
  { configurations }: DeliveryPorts,
): Promise<(delivery: Delivery) => Related> {
  const eventIds = deliveries.map(({ eventId }) => eventId);
  const events = await store.eventsOf(tenantId, eventIds);
  return ({ eventId, ref }) => ({ event: events.get(eventId), webhook: configurations.known(tenantId, ref) });
}

async function list({ identity, query }: ApiRequest, ports: DeliveryPorts) {
  const { filter, request } = readListQuery(query);
  const store = ports.storeFor();
  const namesPayment = filter.endToEndId !== undefined || filter.txId !== undefined;
  const namesEvents = namesPayment || filter.eventId !== undefined;
  const read = async (): Promise<DeliveryPage | undefined> => {
    const page = await ports.lists.run(identity, () => store.page(identity.tenantId, filter, request));
    // Records that are not projected yet may fill an empty page of a known event.
    return namesEvents && page.rows.length === 0 ? undefined : page;
  };
  const page = await readOrCatchUp({ read, catchUp: () => ports.catchUp(namesPayment) });
  const { rows = [], next } = page ?? {};
  const relatedTo = await relate(identity.tenantId, rows, store, ports);
  return {
    data: rows.map((row) => viewSummary(row, relatedTo(row))),
    results: rows.length,
    ...(next === undefined ? {} : { nextCursor: cursorAfter(next) }),
  };
}

export type DeliveryList = Awaited<ReturnType<typeof list>>;

/** Finds a delivery of this tenant. Throws 404 when there is none, and 503 when the projection is late. */
export async function findDelivery(
  tenantId: string,
  deliveryId: string,
  { storeFor, catchUp }: Pick<DeliveryPorts, 'storeFor' | 'catchUp'>,
): Promise<Delivery> {
  const store = storeFor();
  const read = (): Promise<Delivery | undefined> => store.find(tenantId, deliveryId);
  const delivery = await readOrCatchUp({ read, catchUp: () => catchUp(false) });
  if (!delivery) throw new AppError('not-found', 'there is no delivery with this id');
  return delivery;
}

async function get(request: ApiRequest, ports: DeliveryPorts) {
  const { tenantId } = request.identity;
  const delivery = await findDelivery(tenantId, readDeliveryId(request), ports);
  const relatedTo = await relate(tenantId, [delivery], ports.storeFor(), ports);
  return viewDelivery(delivery, relatedTo(delivery));
}

export const createDeliveryOperations = (ports: DeliveryPorts): readonly Operation[] => [
  {
    method: 'GET',
    path: COLLECTION,
    scopes: READ,
    query: LIST_PARAMETERS,
    handle: async (request) => ({ status: 200, body: await list(request, ports) }),
  },
  {
    method: 'GET',
    path: `${COLLECTION}/:deliveryId`,
    scopes: READ,
    handle: async (request) => ({ status: 200, body: await get(request, ports) }),
  },
];
