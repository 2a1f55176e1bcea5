export type EventType = 'PIX_DYNAMIC_PAID' | 'PIX_STATIC' | 'PIX_REVERSAL' | 'PIX_OUT';
/** What a delivery is of: an event, or an alert to an alert endpoint. */
export type NotificationKind = EventType | 'ENDPOINT_ALERT';

/** Decimal text with two places, at most ten before the point, such as `110.00`; never a number. */
export type Money = string;
/** RFC 3339 in UTC, ending in `Z`. */
export type UtcTime = string;

/** A dynamic charge was paid. */
export interface DynamicPaidData {
  readonly txId: string;
  readonly endToEndId: string;
  readonly amount: Money;
  readonly paidAt?: UtcTime;
  readonly chargeAmount?: Money;
}

/** A static code was paid. */
export interface StaticData {
  readonly endToEndId: string;
  readonly amount: Money;
  readonly txId?: string;
}

/** A payment was reversed, or its reversal failed. */
export interface ReversalData {
  /** Identifier of the reversed payment. */
  readonly endToEndId: string;
  /** Identifier of the reversal at the institution that reversed the payment, 1 to 35 letters or digits. */
  readonly reversalId: string;
  /** Identifier of the reversal in the payment system, 32 letters or digits. A payment may have several reversals. */
  readonly rtrId: string;
  readonly amount: Money;
  readonly status: 'DEVOLVIDO' | 'NAO_REALIZADO';
  readonly txId?: string;
  readonly reason?: string;
  readonly requestedAt?: UtcTime;
  readonly settledAt?: UtcTime;
}

/** A payment was sent, or it failed. */
export interface OutData {
  readonly endToEndId: string;
  readonly amount: Money;
  readonly status: 'REALIZADO' | 'NAO_REALIZADO';
  readonly paymentId?: string;
  readonly reason?: string;
}

/** A fact of a payment. `eventType` says which `data` it has. */
export type PaymentFact =
  | { readonly eventType: 'PIX_DYNAMIC_PAID'; readonly data: DynamicPaidData }
  | { readonly eventType: 'PIX_STATIC'; readonly data: StaticData }
  | { readonly eventType: 'PIX_REVERSAL'; readonly data: ReversalData }
  | { readonly eventType: 'PIX_OUT'; readonly data: OutData };

/** What an endpoint receives. A newer service may send a type that is not here: ignore it. */
export type Notification = PaymentFact & {
  /** The same on each attempt, so that a receiver can ignore repeats. */
  readonly id: string;
  readonly occurredAt: UtcTime;
};

/** An event as a payment system posts it. */
export type EventInput = PaymentFact & {
  /** Default: derived from the fact, so that the same fact has the same id. */
  readonly id?: string;
  /** Default: the token's tenant. */
  readonly tenantId?: string;
  readonly occurredAt: UtcTime;
};

export interface Violation {
  readonly property: string;
  readonly reason: string;
}

/** The result of one posted event. */
export interface EventResult {
  /** Position in the request, from 0. */
  readonly index: number;
  /** Line of an NDJSON body, from 1. */
  readonly line?: number;
  readonly id?: string;
  readonly status: 'accepted' | 'invalid' | 'forbidden-tenant' | 'unavailable';
  readonly violations?: readonly Violation[];
}
