import type { CallRequest } from './call.js';
import {
  parseCharge,
  parseDelivery,
  parseDeliveryList,
  parseHealth,
  parseNotificationPage,
  parseRedelivered,
  parseRedelivery,
  parseRedeliveryCount,
  parseTestNotification,
  parseTransaction,
} from './parse-query-answer.js';
import type {
  Charge,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryList,
  EndpointHealth,
  NotificationFilter,
  NotificationPage,
  Redelivered,
  Redelivery,
  RedeliveryCount,
  RedeliveryInput,
  TestNotification,
  Transaction,
} from './query-types.js';

/** The calls of query-api: what really happened, what was delivered, and once more. */
export interface QueryCalls {
  charge(txId: string): Promise<Charge>;
  transaction(endToEndId: string): Promise<Transaction>;
  /** The next page of a chain; see `after`. */
  notifications(filter?: NotificationFilter): Promise<NotificationPage>;
  deliveries(filter?: DeliveryFilter): Promise<DeliveryList>;
  delivery(deliveryId: string): Promise<DeliveryDetail>;
  /** Asked for once, whatever `maxRetries` says: each call makes a redelivery of its own. */
  redeliver(deliveryId: string): Promise<Redelivered>;
  /** How many deliveries `startRedelivery` would send, or a lower bound. */
  countRedelivery(input: RedeliveryInput): Promise<RedeliveryCount>;
  /** Asked for once: each call makes a job of its own. */
  startRedelivery(input: RedeliveryInput): Promise<Redelivery>;
  redelivery(id: string): Promise<Redelivery>;
  cancelRedelivery(id: string): Promise<Redelivery>;
  health(ref: string): Promise<EndpointHealth>;
  /** Sends an event that never happened to one endpoint. Asked for once. */
  sendTest(ref: string): Promise<TestNotification>;
}

/** A call of query-api with the caller's token. */
export type QueryCall = <T>(
  request: Omit<CallRequest<T>, 'headers' | 'auth' | 'statuses' | 'baseURL'>,
  statuses?: readonly number[],
) => Promise<T>;

const ROOT = '/integration/v1';
const DELIVERIES = `${ROOT}/webhooks/deliveries`;
const REDELIVERIES = `${ROOT}/webhooks/redeliveries`;
const ACCEPTED = [202];

const given = (filter: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
const below = (path: string, name: string): string => `${path}/${encodeURIComponent(name)}`;

const createRedeliveryCalls = (call: QueryCall) =>
  ({
    redeliver: (deliveryId) =>
      call(
        {
          method: 'POST',
          url: `${below(DELIVERIES, deliveryId)}/redeliver`,
          parse: parseRedelivered,
          repeatable: false,
        },
        ACCEPTED,
      ),
    countRedelivery: (input) =>
      call({
        method: 'POST',
        url: REDELIVERIES,
        data: { ...input, dryRun: true },
        parse: parseRedeliveryCount,
      }),
    startRedelivery: (data) =>
      call({ method: 'POST', url: REDELIVERIES, data, parse: parseRedelivery, repeatable: false }, ACCEPTED),
    redelivery: (id) => call({ method: 'GET', url: below(REDELIVERIES, id), parse: parseRedelivery }),
    cancelRedelivery: (id) =>
      call({ method: 'POST', url: `${below(REDELIVERIES, id)}/cancel`, parse: parseRedelivery }),
  }) satisfies Partial<QueryCalls>;

export function createQueryCalls(call: QueryCall): QueryCalls {
  return {
    charge: (txId) => call({ method: 'GET', url: below(`${ROOT}/pix/cob`, txId), parse: parseCharge }),
    transaction: (endToEndId) =>
      call({
        method: 'GET',
        url: `${ROOT}/pix/transaction`,
        params: { endToEndId },
        parse: parseTransaction,
      }),
    notifications: (filter = {}) =>
      call({
        method: 'GET',
        url: `${ROOT}/notifications`,
        params: given(filter),
        parse: parseNotificationPage,
        waitMs: (filter.wait ?? 0) * 1_000,
      }),
    deliveries: (filter = {}) =>
      call({ method: 'GET', url: DELIVERIES, params: given(filter), parse: parseDeliveryList }),
    delivery: (deliveryId) =>
      call({ method: 'GET', url: below(DELIVERIES, deliveryId), parse: parseDelivery }),
    ...createRedeliveryCalls(call),
    health: (ref) =>
      call({ method: 'GET', url: `${below(`${ROOT}/webhooks`, ref)}/health`, parse: parseHealth }),
    sendTest: (ref) =>
      call(
        {
          method: 'POST',
          url: `${below(`${ROOT}/webhooks`, ref)}/test`,
          parse: parseTestNotification,
          repeatable: false,
        },
        ACCEPTED,
      ),
  };
}
