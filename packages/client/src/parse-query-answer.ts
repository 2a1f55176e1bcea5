import { has, isObject } from './parse-answer.js';
import type { ParseAnswer } from './parse-answer.js';
import type {
  Charge,
  DeliveryDetail,
  DeliveryList,
  DeliverySummary,
  EndpointHealth,
  NotificationPage,
  Redelivered,
  Redelivery,
  RedeliveryCount,
  TestNotification,
  Transaction,
} from './query-types.js';

const SUMMARY = {
  deliveryId: 'string',
  ref: 'string',
  eventId: 'string',
  eventType: 'string',
  status: 'string',
  createdAt: 'string',
} as const;

/** A member that is a list of objects with these members. */
const hasList = (value: unknown, name: string, members: Parameters<typeof has>[1]): boolean =>
  isObject(value) && Array.isArray(value[name]) && value[name].every((element) => has(element, members));

const isCharge = (value: unknown): value is Charge =>
  has(value, { txId: 'string', status: 'string' }) && hasList(value, 'pix', { endToEndId: 'string' });
const isTransaction = (value: unknown): value is Transaction =>
  has(value, { endToEndId: 'string' }) && hasList(value, 'reversals', { rtrId: 'string', status: 'string' });
const isSummary = (value: unknown): value is DeliverySummary => has(value, SUMMARY);
const isDetail = (value: unknown): value is DeliveryDetail =>
  isSummary(value) && hasList(value, 'attempts', { cycle: 'string', attempt: 'number', at: 'string' });
const isDeliveryList = (value: unknown): value is DeliveryList =>
  has(value, { results: 'number' }) && hasList(value, 'data', SUMMARY);
const isNotificationPage = (value: unknown): value is NotificationPage =>
  has(value, { results: 'number', nextCursor: 'string', hasMore: 'boolean' }) &&
  hasList(value, 'data', { id: 'string', eventType: 'string', body: 'string' });
const isRedelivered = (value: unknown): value is Redelivered =>
  has(value, { deliveryId: 'string', cycle: 'string' });
const isRedelivery = (value: unknown): value is Redelivery =>
  has(value, {
    ...{ id: 'string', state: 'string', matched: 'number' },
    ...{ sent: 'number', refused: 'number', expired: 'number' },
  } as const);
const isTest = (value: unknown): value is TestNotification =>
  has(value, { deliveryId: 'string', eventId: 'string' });
const isHealth = (value: unknown): value is EndpointHealth =>
  has(value, { ref: 'string', state: 'string' }) && hasList(value, 'failures', { class: 'string' });
const isCount = (value: unknown): value is RedeliveryCount => has(value, { matched: 'number' });
/** An older server counts all, and does not say so. */
const COUNTED_ALL = { matchedIsLowerBound: false };

export const parseCharge: ParseAnswer<Charge> = (body) => (isCharge(body) ? body : undefined);
export const parseTransaction: ParseAnswer<Transaction> = (body) => (isTransaction(body) ? body : undefined);
export const parseNotificationPage: ParseAnswer<NotificationPage> = (body) =>
  isNotificationPage(body) ? body : undefined;
export const parseDelivery: ParseAnswer<DeliveryDetail> = (body) => (isDetail(body) ? body : undefined);
export const parseDeliveryList: ParseAnswer<DeliveryList> = (body) =>
  isDeliveryList(body) ? body : undefined;
export const parseRedelivered: ParseAnswer<Redelivered> = (body) => (isRedelivered(body) ? body : undefined);
export const parseRedelivery: ParseAnswer<Redelivery> = (body) =>
  isRedelivery(body) ? { ...COUNTED_ALL, ...body } : undefined;
export const parseTestNotification: ParseAnswer<TestNotification> = (body) =>
  isTest(body) ? body : undefined;
export const parseHealth: ParseAnswer<EndpointHealth> = (body) => (isHealth(body) ? body : undefined);
/** How many deliveries a dry run found. */
export const parseRedeliveryCount: ParseAnswer<RedeliveryCount> = (body) =>
  isCount(body) ? { ...COUNTED_ALL, ...body } : undefined;
