import type * as Types from '../types/types.js';

/**
 * Parses the body of a successful response. Returns undefined for a body of another form. Unknown members and values are accepted, because
 * a newer service may send more.
 */
export type ParseResponse<T> = (body: unknown) => T | undefined;

type Members = Readonly<Record<string, 'string' | 'boolean' | 'number'>>;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const has = (value: unknown, members: Members): boolean =>
  isObject(value) && Object.entries(members).every(([name, kind]) => typeof value[name] === kind);

/** Returns a parser of bodies with these members and types, and with these lists of objects. */
const shaped =
  <T>(members: Members, lists: Readonly<Record<string, Members>> = {}): ParseResponse<T> =>
  (body) => {
    const isList = ([name, element]: [string, Members]): boolean =>
      isObject(body) && Array.isArray(body[name]) && body[name].every((value) => has(value, element));
    return has(body, members) && Object.entries(lists).every(isList) ? (body as T) : undefined;
  };

const strings = (...names: readonly string[]): Members =>
  Object.fromEntries(names.map((name) => [name, 'string']));

const LISTED: Members = { ...strings('ref', 'eventType', 'endpointUrl'), enabled: 'boolean' };
const DELIVERY = strings('deliveryId', 'ref', 'eventId', 'eventType', 'status', 'createdAt');
const COUNTS: Members = { matched: 'number', sent: 'number', refused: 'number', expired: 'number' };
const REDELIVERY: Members = { ...strings('id', 'state'), ...COUNTS };
const TRANSACTION = strings('eventId', 'endToEndId', 'amount', 'occurredAt');
const NOTIFICATION = strings('id', 'eventType', 'body');
const ALERT_ENDPOINT = strings('ref', 'endpointUrl', 'format');
const PAGE: Members = { results: 'number' };

export const parseWebhook = shaped<Types.Webhook>({ ...LISTED, createdAt: 'string', updatedAt: 'string' });
export const parseWebhookList = shaped<Types.WebhookList>(PAGE, { data: LISTED });
export const parseEgressList = shaped<Types.EgressList>(PAGE, { data: { address: 'string' } });
export const parseSecret = shaped<Types.WebhookSecret>({ ref: 'string', secret: 'string' });
export const parsePolicy = shaped<Types.DeliveryPolicy>({});
export const parseAccepted = shaped<{ readonly id: string }>({ id: 'string' });
export const parseResults = shaped<{ readonly results: readonly Types.EventResult[] }>(
  {},
  { results: { index: 'number', status: 'string' } },
);
export const parseCharge = shaped<Types.Charge>(strings('txId', 'status'), { pix: strings('endToEndId') });
export const parseTransaction = shaped<Types.Transaction>(strings('endToEndId'), {
  reversals: strings('rtrId', 'status'),
});
export const parseTransactionList = shaped<Types.TransactionList>(PAGE, { data: TRANSACTION });
export const parseNotification = shaped<Types.StoredNotification>(NOTIFICATION);
export const parseNotificationPage = shaped<Types.NotificationPage>(
  { ...PAGE, nextCursor: 'string', hasMore: 'boolean' },
  { data: NOTIFICATION },
);
export const parseDelivery = shaped<Types.DeliveryDetail>(DELIVERY, {
  attempts: { cycle: 'string', attempt: 'number', at: 'string' },
});
export const parseDeliveryList = shaped<Types.DeliveryList>(PAGE, { data: DELIVERY });
export const parseRedelivered = shaped<Types.Redelivered>({ deliveryId: 'string', cycle: 'string' });
export const parseRedeliveryCount = shaped<Types.RedeliveryCount>({ matched: 'number' });
export const parseRedelivery = shaped<Types.Redelivery>(REDELIVERY);
export const parseRedeliveryList = shaped<Types.RedeliveryList>(PAGE, { data: REDELIVERY });
export const parseTest = shaped<Types.TestNotification>({ deliveryId: 'string', eventId: 'string' });
export const parseHealth = shaped<Types.EndpointHealth>(strings('ref', 'state'), {
  failures: strings('class'),
});
export const parseChanges = shaped<Types.ChangeList>(PAGE, { data: { at: 'string', action: 'string' } });
export const parseAlertEndpoint = shaped<Types.AlertEndpoint>(ALERT_ENDPOINT);
export const parseAlertEndpointList = shaped<Types.AlertEndpointList>(PAGE, { data: ALERT_ENDPOINT });
export const parseOverview = shaped<Types.Overview>(PAGE, {
  data: strings('ref', 'state'),
  series: strings('at'),
});
export const parseStatement = shaped<Types.Statement>(strings('date'), {
  webhooks: strings('ref'),
  unmatched: strings('eventType'),
});
/** Accepts any body, because this response has none that matters. */
export const parseNothing: ParseResponse<true> = () => true;
