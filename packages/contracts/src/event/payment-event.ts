/** The event types. */
export const EVENT_TYPES = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const eventTypes: ReadonlySet<unknown> = new Set(EVENT_TYPES);
export const isEventType = (value: unknown): value is EventType => eventTypes.has(value);

/** Money is decimal text with two places, at most ten before the point; it is never a number. */
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

/** What happened, without tenant and id. */
export type PaymentFact =
  | { readonly eventType: 'PIX_DYNAMIC_PAID'; readonly data: DynamicPaidData }
  | { readonly eventType: 'PIX_STATIC'; readonly data: StaticData }
  | { readonly eventType: 'PIX_REVERSAL'; readonly data: ReversalData }
  | { readonly eventType: 'PIX_OUT'; readonly data: OutData };

/** One event as it stands on the topic `payments.events`. */
export type PaymentEvent = PaymentFact & {
  /** `[A-Za-z0-9_-]{1,64}`; consumers deduplicate by it. */
  readonly id: string;
  readonly tenantId: string;
  readonly occurredAt: UtcTime;
};
