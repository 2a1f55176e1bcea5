import { randomInt } from 'node:crypto';

/** The types of payment events. Each type is a fact about a payment, with its own form of `data`. */
export const EVENT_TYPES = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const eventTypes: ReadonlySet<unknown> = new Set(EVENT_TYPES);
export const isEventType = (value: unknown): value is EventType => eventTypes.has(value);

/** The kind of the configurations and deliveries of alert endpoints: alerts about the tenant's other endpoints. */
export const ALERT_KIND = 'ENDPOINT_ALERT';

/**
 * The kinds of notifications, and so of deliveries and configurations: payment events, and alerts. To add a kind that is
 * no payment, extend this list and not `EVENT_TYPES`. Tasks, configurations and the attempt log then accept the kind, and
 * `PaymentFact` does not have it.
 */
export const NOTIFICATION_KINDS = [...EVENT_TYPES, ALERT_KIND] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

const kinds: ReadonlySet<unknown> = new Set(NOTIFICATION_KINDS);
export const isNotificationKind = (value: unknown): value is NotificationKind => kinds.has(value);

/** Decimal text with two places and at most ten digits before the point; never a number. */
export type Money = string;
/** RFC 3339 in UTC, ending in `Z`. */
export type UtcTime = string;

export interface DynamicPaidData {
  readonly txId: string;
  readonly endToEndId: string;
  readonly amount: Money;
  readonly paidAt?: UtcTime;
  readonly chargeAmount?: Money;
}
export interface StaticData {
  readonly endToEndId: string;
  readonly amount: Money;
  readonly txId?: string;
}
export interface ReversalData {
  readonly endToEndId: string;
  readonly reversalId: string;
  readonly rtrId: string;
  readonly amount: Money;
  readonly status: 'DEVOLVIDO' | 'NAO_REALIZADO';
  readonly txId?: string;
  readonly reason?: string;
  readonly requestedAt?: UtcTime;
  readonly settledAt?: UtcTime;
}
export interface OutData {
  readonly endToEndId: string;
  readonly amount: Money;
  readonly status: 'REALIZADO' | 'NAO_REALIZADO';
  readonly paymentId?: string;
  readonly reason?: string;
}

/** The content of an event: type and data, without tenant and id. */
export type PaymentFact =
  | { readonly eventType: 'PIX_DYNAMIC_PAID'; readonly data: DynamicPaidData }
  | { readonly eventType: 'PIX_STATIC'; readonly data: StaticData }
  | { readonly eventType: 'PIX_REVERSAL'; readonly data: ReversalData }
  | { readonly eventType: 'PIX_OUT'; readonly data: OutData };

/** One event, as a record of the topic `payments.events` contains it. */
export type PaymentEvent = PaymentFact & {
  /** `[A-Za-z0-9_-]{1,64}`; consumers deduplicate by it. */
  readonly id: string;
  readonly tenantId: string;
  readonly occurredAt: UtcTime;
};

/** Returns the headers that `ingest` writes: CloudEvents 1.0 attributes in binary mode for Kafka. */
export function cloudEventHeaders(event: PaymentEvent, source: string): Record<string, string> {
  return {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: event.eventType,
    ce_source: source,
    ce_time: event.occurredAt,
    'content-type': 'application/json',
  };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** An ISPB of zeros marks a test identifier. It is also Banco do Brasil's ISPB, so the rest is random. */
const TEST_ISPB = '00000000';
const TX_ID_CHARACTERS = 32;
const AMOUNT = '0.01';
/** Prefix of the ids of test events: they travel as any other event, and nothing was paid. */
export const TEST_EVENT = 'evt_test_';

const randomText = (characters: number): string =>
  Array.from({ length: characters }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** Makes an identifier of a Pix (`E`) or of a reversal (`D`): prefix, ISPB, minute in UTC, 11 random characters. */
function identifier(prefix: 'E' | 'D', now: Date): string {
  const minute = now.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12);
  return `${prefix}${TEST_ISPB}${minute}${randomText(11)}`;
}

function makeFact(eventType: EventType, now: Date): PaymentFact {
  const endToEndId = identifier('E', now);
  const txId = `test${randomText(TX_ID_CHARACTERS - 4)}`;
  switch (eventType) {
    case 'PIX_DYNAMIC_PAID':
      return { eventType, data: { txId, endToEndId, amount: AMOUNT, paidAt: now.toISOString() } };
    case 'PIX_STATIC':
      return { eventType, data: { endToEndId, amount: AMOUNT } };
    case 'PIX_REVERSAL': {
      const reversal = { reversalId: `test${randomText(12)}`, rtrId: identifier('D', now) };
      return { eventType, data: { endToEndId, ...reversal, amount: AMOUNT, status: 'DEVOLVIDO' } };
    }
    case 'PIX_OUT':
      return { eventType, data: { endToEndId, amount: AMOUNT, status: 'REALIZADO' } };
  }
}

/** Makes a test event of one cent, with unique identifiers. `id`: the event id. */
export function makeTestEvent(
  { tenantId, eventType }: { readonly tenantId: string; readonly eventType: EventType },
  id: string,
  now: Date,
): PaymentEvent {
  return { id, tenantId, occurredAt: now.toISOString(), ...makeFact(eventType, now) };
}
