import type { AuthorizedCall } from './token-source.js';
import type { RequestOptions } from './call.js';
import * as parse from './parse-response.js';
import type { ParseResponse } from './parse-response.js';
import type * as Types from '../types/types.js';
import { ONCE, WEBHOOKS } from './webhook-calls.js';

const PIX = '/integration/v1/pix';
const NOTIFICATIONS = '/integration/v1/notifications';
const STATEMENTS = '/integration/v1/statements';
const DELIVERIES = `${WEBHOOKS}/deliveries`;
const REDELIVERIES = `${WEBHOOKS}/redeliveries`;

const below = (path: string, name: string, part = ''): string => `${path}/${encodeURIComponent(name)}${part}`;

/** Payments, notifications, the delivery log, redeliveries and statements. */
export type QueryCalls = ReturnType<typeof createQueryCalls>;

export function createQueryCalls(query: AuthorizedCall) {
  const get = <T>(url: string, read: ParseResponse<T>, options?: RequestOptions, params?: object) =>
    query({ method: 'GET', url, params, parse: read, options });
  return {
    charge: (txId: string, options?: RequestOptions) =>
      get(below(`${PIX}/cob`, txId), parse.parseCharge, options),
    transaction: (endToEndId: string, options?: RequestOptions) =>
      get(`${PIX}/transaction`, parse.parseTransaction, options, { endToEndId }),
    /** Lists payments by when they occurred, the newest first. */
    transactions: (filter: Types.TransactionFilter, options?: RequestOptions) =>
      get(`${PIX}/transactions`, parse.parseTransactionList, options, filter),
    notification: (eventId: string, options?: RequestOptions) =>
      get(below(NOTIFICATIONS, eventId), parse.parseNotification, options),
    /** Returns the page that follows the cursor `after`. */
    notifications: (params: Types.NotificationFilter = {}, options?: RequestOptions) => {
      const waitMs = (params.wait ?? 0) * 1_000;
      const request = { method: 'GET', url: NOTIFICATIONS, parse: parse.parseNotificationPage } as const;
      return query({ ...request, params, waitMs, options });
    },
    deliveries: (filter?: Types.DeliveryFilter, options?: RequestOptions) =>
      get(DELIVERIES, parse.parseDeliveryList, options, filter),
    delivery: (deliveryId: string, options?: RequestOptions) =>
      get(below(DELIVERIES, deliveryId), parse.parseDelivery, options),
    /** Never retried automatically, whatever `maxRetries` says, because each call creates a redelivery. */
    redeliver: (deliveryId: string, options?: RequestOptions) => {
      const url = below(DELIVERIES, deliveryId, '/redeliver');
      return query({ ...ONCE, url, parse: parse.parseRedelivered, options });
    },
    /** Sends an event to a webhook, whatever was before. Never retried automatically, as `redeliver`. */
    send: (eventId: string, ref: string, options?: RequestOptions) =>
      query({ ...ONCE, url: DELIVERIES, data: { eventId, ref }, parse: parse.parseRedelivered, options }),
    redeliveries: (filter?: Types.RedeliveryFilter, options?: RequestOptions) =>
      get(REDELIVERIES, parse.parseRedeliveryList, options, filter),
    /** Returns how many deliveries `startRedelivery` would send, or a lower bound. */
    countRedelivery: (input: Types.RedeliveryInput, options?: RequestOptions) => {
      const data = { ...input, dryRun: true };
      return query({ method: 'POST', url: REDELIVERIES, data, parse: parse.parseRedeliveryCount, options });
    },
    /** Never retried automatically, because each call creates a job. */
    startRedelivery: (data: Types.RedeliveryInput, options?: RequestOptions) =>
      query({ ...ONCE, url: REDELIVERIES, data, parse: parse.parseRedelivery, options }),
    redelivery: (id: string, options?: RequestOptions) =>
      get(below(REDELIVERIES, id), parse.parseRedelivery, options),
    cancelRedelivery: (id: string, options?: RequestOptions) => {
      const url = below(REDELIVERIES, id, '/cancel');
      return query({ method: 'POST', url, parse: parse.parseRedelivery, options });
    },
    /** Returns how all webhooks do, and the last day of the tenant. */
    overview: (options?: RequestOptions) => get(`${WEBHOOKS}/overview`, parse.parseOverview, options),
    /** Returns the events of a day in São Paulo, such as `2026-11-21`, and what became of them. */
    statement: (date: string, options?: RequestOptions) =>
      get(below(STATEMENTS, date), parse.parseStatement, options),
  };
}
