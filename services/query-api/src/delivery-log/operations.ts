import { causeOf } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import type { ApiRequest, OpenRequests, Operation } from '@webhooks/http-api';
import type { DeliveryPage, DeliveryStore } from './delivery-store.js';
import { attemptsOf, FIRST_CYCLE } from './delivery.js';
import type { Delivery, LoggedAttempt } from './delivery.js';
import { cursorAfter, LIST_PARAMETERS, readListQuery } from './list-query.js';
import { omitUndefined } from '../omit-undefined.js';
import { readOrCatchUp } from '../projection/catch-up.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import { readDeliveryId } from '../request-parameters.js';

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** A delivery as a list shows it. `attempts` may hold the last one only. */
export function viewSummary(delivery: Delivery) {
  const { deliveryId, ref, eventId, eventType, state, createdAt, updatedAt } = delivery;
  const last = attemptsOf(delivery).at(-1);
  const nextAt = state.nextAt === undefined ? undefined : timeOf(state.nextAt);
  return {
    deliveryId,
    ref,
    eventId,
    eventType,
    status: state.status,
    cycle: state.cycle,
    redelivery: state.cycle !== FIRST_CYCLE,
    createdAt: timeOf(createdAt),
    updatedAt: timeOf(updatedAt),
    ...omitUndefined({ reason: state.reason, nextAt, deferredUntil: state.deferred && nextAt }),
    ...omitUndefined({ lastAttempt: last?.attempt, lastStatus: last?.status, lastError: last?.error }),
    ...omitUndefined({ lastCode: last?.code, lastCause: last && causeOf(last) }),
  };
}

function viewAttempt({ attempt, cycle, at, durationMs, result, ...rest }: LoggedAttempt) {
  const { status, error, code, nextAt } = rest;
  return {
    attempt,
    cycle,
    redelivery: cycle !== FIRST_CYCLE,
    at: timeOf(at),
    durationMs,
    result,
    ...omitUndefined({ status, error, code, cause: causeOf(rest) }),
    ...omitUndefined({ nextAt: nextAt === undefined ? undefined : timeOf(nextAt) }),
  };
}

/** With its attempts, the oldest first. */
export const viewDelivery = (delivery: Delivery) => ({
  ...viewSummary(delivery),
  attempts: attemptsOf(delivery).map(viewAttempt),
  ...omitUndefined({ truncated: delivery.truncated }),
});

export interface DeliveryPorts {
  /** Limits the lists that the database runs at once. */
  readonly lists: Pick<OpenRequests, 'run'>;
  /** Opens the store for one request. */
  readonly storeFor: () => DeliveryStore;
  /** Waits until the attempts that are on the topic now are projected; `withEvents`: the events too. */
  readonly catchUp: (withEvents: boolean) => Promise<CatchUpResult>;
}

const COLLECTION = '/integration/v1/webhooks/deliveries';
const READ = ['delivery.read'] as const;

async function list({ identity, query }: ApiRequest, ports: DeliveryPorts) {
  const { filter, request } = readListQuery(query);
  const store = ports.storeFor();
  const namesPayment = filter.endToEndId !== undefined || filter.txId !== undefined;
  const namesEvents = namesPayment || filter.eventId !== undefined;
  const read = async (): Promise<DeliveryPage | undefined> => {
    const page = await ports.lists.run(identity, () => store.page(identity.tenantId, filter, request));
    // An empty page of known events may be filled by records that are not projected yet.
    return namesEvents && page.rows.length === 0 ? undefined : page;
  };
  const page = await readOrCatchUp({ read, catchUp: () => ports.catchUp(namesPayment) });
  const { rows = [], next } = page ?? {};
  return {
    data: rows.map(viewSummary),
    results: rows.length,
    ...(next === undefined ? {} : { nextCursor: cursorAfter(next) }),
  };
}

export type DeliveryList = Awaited<ReturnType<typeof list>>;

/** Finds a delivery of this tenant. Throws 404 when there is none, and 503 when that is not known yet. */
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
    handle: async (request) => ({
      status: 200,
      body: viewDelivery(await findDelivery(request.identity.tenantId, readDeliveryId(request), ports)),
    }),
  },
];
