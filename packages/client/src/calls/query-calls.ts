import type { AuthorizedCall } from './token-source.js';
import type { RequestOptions } from './call.js';
import * as parse from './parse-response.js';
import type { ParseResponse } from './parse-response.js';
import type * as Types from '../types/types.js';
import { ONCE, WEBHOOKS } from './webhook-calls.js';

/** Payments, notifications, the delivery log, redeliveries and statements. */
export interface QueryCalls {
  charge(txId: string, options?: RequestOptions): Promise<Types.Charge>;
  transaction(endToEndId: string, options?: RequestOptions): Promise<Types.Transaction>;
  /** Lists payments by when they occurred, the newest first. */
  transactions(filter: Types.TransactionFilter, options?: RequestOptions): Promise<Types.TransactionList>;
  notification(eventId: string, options?: RequestOptions): Promise<Types.StoredNotification>;
  /** Returns the page that follows the cursor `after`. */
  notifications(filter?: Types.NotificationFilter, options?: RequestOptions): Promise<Types.NotificationPage>;
  deliveries(filter?: Types.DeliveryFilter, options?: RequestOptions): Promise<Types.DeliveryList>;
  delivery(deliveryId: string, options?: RequestOptions): Promise<Types.DeliveryDetail>;
  /** Never retried automatically, whatever `maxRetries` says, because each call creates a redelivery. */
  redeliver(deliveryId: string, options?: RequestOptions): Promise<Types.Redelivered>;
  /** Sends an event to a webhook, whatever was before. Never retried automatically, as `redeliver`. */
  send(eventId: string, ref: string, options?: RequestOptions): Promise<Types.Redelivered>;
  redeliveries(filter?: Types.RedeliveryFilter, options?: RequestOptions): Promise<Types.RedeliveryList>;
  /** Returns how many deliveries `startRedelivery` would send, or a lower bound. */
  countRedelivery(input: Types.RedeliveryInput, options?: RequestOptions): Promise<Types.RedeliveryCount>;
  /** Never retried automatically, because each call creates a job. */
  startRedelivery(input: Types.RedeliveryInput, options?: RequestOptions): Promise<Types.Redelivery>;
  redelivery(id: string, options?: RequestOptions): Promise<Types.Redelivery>;
  cancelRedelivery(id: string, options?: RequestOptions): Promise<Types.Redelivery>;
  /** Returns how all webhooks do, and the last day of the tenant. */
  overview(options?: RequestOptions): Promise<Types.Overview>;
  /** Returns the events of a day in São Paulo, such as `2026-11-21`, and what became of them. */
  statement(date: string, options?: RequestOptions): Promise<Types.Statement>;
}

const PIX = '/integration/v1/pix';
const NOTIFICATIONS = '/integration/v1/notifications';
const STATEMENTS = '/integration/v1/statements';
const DELIVERIES = `${WEBHOOKS}/deliveries`;
const REDELIVERIES = `${WEBHOOKS}/redeliveries`;

const below = (path: string, name: string, part = ''): string => `${path}/${encodeURIComponent(name)}${part}`;

export function createQueryCalls(query: AuthorizedCall): QueryCalls {
  const get = <T>(url: string, read: ParseResponse<T>, options?: RequestOptions, params?: object) =>
    query({ method: 'GET', url, params, parse: read, options });
  return {
    charge: (txId, options) => get(below(`${PIX}/cob`, txId), parse.parseCharge, options),
    transaction: (endToEndId, options) =>
      get(`${PIX}/transaction`, parse.parseTransaction, options, { endToEndId }),
    transactions: (filter, options) =>
      get(`${PIX}/transactions`, parse.parseTransactionList, options, filter),
    notification: (eventId, options) => get(below(NOTIFICATIONS, eventId), parse.parseNotification, options),
    notifications: (params = {}, options) =>
      query({
        method: 'GET',
        url: NOTIFICATIONS,
        params,
        parse: parse.parseNotificationPage,
        waitMs: (params.wait ?? 0) * 1_000,
        options,
      }),
    deliveries: (filter, options) => get(DELIVERIES, parse.parseDeliveryList, options, filter),
    delivery: (deliveryId, options) => get(below(DELIVERIES, deliveryId), parse.parseDelivery, options),
    redeliver: (deliveryId, options) => {
      const url = below(DELIVERIES, deliveryId, '/redeliver');
      return query({ ...ONCE, url, parse: parse.parseRedelivered, options });
    },
    send: (eventId, ref, options) =>
      query({ ...ONCE, url: DELIVERIES, data: { eventId, ref }, parse: parse.parseRedelivered, options }),
    redeliveries: (filter, options) => get(REDELIVERIES, parse.parseRedeliveryList, options, filter),
    countRedelivery: (input, options) => {
      const data = { ...input, dryRun: true };
      return query({ method: 'POST', url: REDELIVERIES, data, parse: parse.parseRedeliveryCount, options });
    },
    startRedelivery: (data, options) =>
      query({ ...ONCE, url: REDELIVERIES, data, parse: parse.parseRedelivery, options }),
    redelivery: (id, options) => get(below(REDELIVERIES, id), parse.parseRedelivery, options),
    cancelRedelivery: (id, options) => {
      const url = below(REDELIVERIES, id, '/cancel');
      return query({ method: 'POST', url, parse: parse.parseRedelivery, options });
    },
    overview: (options) => get(`${WEBHOOKS}/overview`, parse.parseOverview, options),
    statement: (date, options) => get(below(STATEMENTS, date), parse.parseStatement, options),
  };
}
