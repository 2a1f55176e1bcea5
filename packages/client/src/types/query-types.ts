import type { EventType, Money, NotificationKind, ReversalData, UtcTime } from './event-types.js';
import type { Page } from './webhook-types.js';

/** A reversal of a payment. */
export type Reversal = Omit<ReversalData, 'endToEndId' | 'txId'>;

export interface ChargePix {
  readonly endToEndId: string;
  readonly txId: string;
  readonly amount?: Money;
  readonly paidAt?: UtcTime;
  readonly reversals: readonly Reversal[];
  /** Ids of its events, by which deliveries are listed. */
  readonly events: readonly string[];
}

interface FoundPayment {
  /** Present while only tests report it: nothing was paid. */
  readonly test?: true;
  /** There is more data than is listed. */
  readonly truncated?: true;
}

/** The state of a dynamic charge. */
export interface Charge extends FoundPayment {
  readonly txId: string;
  readonly status: 'ATIVA' | 'CONCLUIDA';
  /** Absent while only a reversal is known. */
  readonly amount?: string;
  readonly pix: readonly ChargePix[];
}

/** The state of one transaction. */
export interface Transaction extends FoundPayment {
  readonly endToEndId: string;
  /** Absent while only a reversal is known, as are `amount` and `occurredAt`. */
  readonly eventType?: Exclude<EventType, 'PIX_REVERSAL'>;
  readonly txId?: string;
  readonly amount?: Money;
  readonly occurredAt?: UtcTime;
  /** Of an outgoing payment. */
  readonly status?: 'REALIZADO' | 'NAO_REALIZADO';
  readonly reversals: readonly Reversal[];
  /** Ids of its events, by which deliveries are listed. */
  readonly events: readonly string[];
}

/** One event of a payment or of a reversal. */
export interface TransactionSummary {
  readonly eventId: string;
  /** Of a reversal: the payment that it reverses. */
  readonly endToEndId: string;
  readonly eventType: EventType;
  readonly txId?: string;
  readonly amount: Money;
  readonly occurredAt: UtcTime;
  /** Of an outgoing payment or a reversal. */
  readonly status?: 'REALIZADO' | 'NAO_REALIZADO' | 'DEVOLVIDO';
  /** Of a reversal, as is `rtrId`. */
  readonly reversalId?: string;
  readonly rtrId?: string;
}

export interface TransactionFilter extends Pick<DeliveryFilter, 'to' | 'eventType' | 'limit' | 'cursor'> {
  /** At most 31 days before `to`, which is now by default. */
  readonly from: UtcTime;
  /** Exactly this amount. */
  readonly amount?: Money;
  readonly status?: 'REALIZADO' | 'NAO_REALIZADO' | 'DEVOLVIDO';
}

/** A page may be short or empty although another follows. */
export type TransactionList = Page<TransactionSummary>;

export interface NotificationFilter {
  /** The `nextCursor` of the previous page, or `now`; default: from the oldest stored notification. */
  readonly after?: string;
  readonly eventType?: EventType;
  readonly limit?: number;
  /** Seconds to wait for a notification when there is none, at most 25. */
  readonly wait?: number;
}

/** A notification as it was rendered. */
export interface PulledNotification {
  readonly id: string;
  readonly eventType: EventType;
  /** The exact text whose bytes are posted and signed. */
  readonly body: string;
}

/** A notification that is stored. */
export interface StoredNotification extends PulledNotification {
  /** When the platform accepted its event; absent for a test notification. */
  readonly receivedAt?: UtcTime;
}

export interface NotificationPage extends Page<PulledNotification> {
  readonly nextCursor: string;
  /** Whether there already are more pages. */
  readonly hasMore: boolean;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'dead' | 'cancelled';

/** One delivery of the log. */
export interface DeliverySummary {
  readonly deliveryId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: NotificationKind;
  /** The present URL of the webhook. */
  readonly endpointUrl?: string;
  /** Absent when the event is no longer stored, as are `txId` and `amount`. */
  readonly endToEndId?: string;
  readonly txId?: string;
  readonly amount?: Money;
  readonly status: DeliveryStatus;
  /** Why the delivery is dead or cancelled. */
  readonly reason?: string;
  /** `0` until the delivery is sent again; from then on, an identifier of the latest redelivery. */
  readonly cycle: string;
  readonly redelivery: boolean;
  readonly createdAt: UtcTime;
  readonly updatedAt: UtcTime;
  /** When the next attempt is due. */
  readonly nextAt?: UtcTime;
  /** Until when the delivery is deferred. */
  readonly deferredUntil?: UtcTime;
  readonly lastAttempt?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly lastCode?: string;
  readonly lastCause?: string;
}

/** One attempt of a delivery. */
export interface DeliveryAttempt {
  readonly attempt: number;
  /** `0` for the first delivery, otherwise an identifier of the redelivery to which the attempt belongs. */
  readonly cycle: string;
  readonly redelivery: boolean;
  readonly at: UtcTime;
  readonly durationMs: number;
  readonly result: 'delivered' | 'failed';
  /** HTTP status of the endpoint's response. */
  readonly status?: number;
  /** Class of a failure without a response. */
  readonly error?: string;
  /** The exact failure, such as `CERT_HAS_EXPIRED`. */
  readonly code?: string;
  /** What the failure means and what helps. */
  readonly cause?: string;
  readonly nextAt?: UtcTime;
}

export interface DeliveryDetail extends DeliverySummary {
  readonly attempts: readonly DeliveryAttempt[];
  /** There are more attempts than are listed. */
  readonly truncated?: true;
}

export interface DeliveryFilter {
  readonly ref?: string;
  readonly eventId?: string;
  readonly endToEndId?: string;
  readonly txId?: string;
  readonly eventType?: EventType;
  readonly status?: DeliveryStatus;
  readonly from?: UtcTime;
  readonly to?: UtcTime;
  readonly limit?: number;
  readonly cursor?: string;
}

export type DeliveryList = Page<DeliverySummary>;

/** A delivery that is sent again. */
export interface Redelivered {
  readonly deliveryId: string;
  readonly cycle: string;
}

export interface RedeliveryInput {
  readonly ref?: string;
  readonly eventType?: EventType;
  /** Default `dead`. `missed` needs a `ref` and selects what was never sent to this endpoint. */
  readonly status?: 'dead' | 'cancelled' | 'delivered' | 'missed';
  readonly from: UtcTime;
  /** Default now. */
  readonly to?: UtcTime;
}

interface Matched {
  readonly filter: RedeliveryInput & Required<Pick<RedeliveryInput, 'status' | 'to'>>;
  readonly matched: number;
  /** There were too many to count them all in time: `matched` or more. */
  readonly matchedIsLowerBound: boolean;
}

/** How many deliveries match. */
export interface RedeliveryCount extends Matched {
  readonly dryRun: true;
}

/** A job that sends many deliveries again. */
export interface Redelivery extends Matched {
  readonly id: string;
  readonly state: 'running' | 'completed' | 'cancelled';
  /** The client, and the `sub` of the person for whom it acted. */
  readonly startedBy: { readonly client: string; readonly person?: string };
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
  readonly createdAt: UtcTime;
  readonly updatedAt: UtcTime;
}

export type RedeliveryFilter = Pick<DeliveryFilter, 'limit' | 'cursor'>;

export type RedeliveryList = Page<Redelivery>;
