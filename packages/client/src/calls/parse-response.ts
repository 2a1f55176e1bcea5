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

const LISTED: Members = { ref: 'string', eventType: 'string', endpointUrl: 'string', enabled: 'boolean' };
const DELIVERY: Members = {
  deliveryId: 'string',
  ref: 'string',
  eventId: 'string',
  eventType: 'string',
  status: 'string',
  createdAt: 'string',
};
const REDELIVERY: Members = {
  id: 'string',
  state: 'string',
  matched: 'number',
  sent: 'number',
  refused: 'number',
  expired: 'number',
};
const TRANSACTION: Members = {
  eventId: 'string',
  endToEndId: 'string',
  amount: 'string',
  occurredAt: 'string',
};
const NOTIFICATION: Members = { id: 'string', eventType: 'string', body: 'string' };
const ALERT_ENDPOINT: Members = { ref: 'string', endpointUrl: 'string', format: 'string' };
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
export const parseCharge = shaped<Types.Charge>(
  { txId: 'string', status: 'string' },
  { pix: { endToEndId: 'string' } },
);
export const parseTransaction = shaped<Types.Transaction>(
  { endToEndId: 'string' },
  { reversals: { rtrId: 'string', status: 'string' } },
);
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
export const parseHealth = shaped<Types.EndpointHealth>(
  { ref: 'string', state: 'string' },
  { failures: { class: 'string' } },
);
export const parseChanges = shaped<Types.ChangeList>(PAGE, { data: { at: 'string', action: 'string' } });
export const parseAlertEndpoint = shaped<Types.AlertEndpoint>(ALERT_ENDPOINT);
export const parseAlertEndpointList = shaped<Types.AlertEndpointList>(PAGE, { data: ALERT_ENDPOINT });
export const parseOverview = shaped<Types.Overview>(PAGE, {
  data: { ref: 'string', state: 'string' },
  series: { at: 'string' },
});
export const parseStatement = shaped<Types.Statement>(
  { date: 'string' },
  { webhooks: { ref: 'string' }, unmatched: { eventType: 'string' } },
);
/** Accepts any body, because this response has none that matters. */
export const parseNothing: ParseResponse<true> = () => true;
