import type { EventType, UtcTime } from '@webhooks/contracts';

/** A reversal of a payment, as reconciliation tells it. */
export interface Reversal {
  readonly reversalId: string;
  readonly rtrId: string;
  readonly amount: string;
  readonly status: string;
  readonly reason?: string;
}

/** The state of a dynamic charge. */
export interface Charge {
  readonly txId: string;
  readonly status: string;
  /** Absent while only a reversal is known. */
  readonly amount?: string;
  readonly pix: readonly {
    readonly endToEndId: string;
    readonly txId: string;
    readonly amount?: string;
    readonly paidAt?: UtcTime;
    readonly reversals: readonly Reversal[];
    /** Ids of the events that told of it, by which deliveries are listed. */
    readonly events: readonly string[];
  }[];
}

/** The state of one transaction. */
export interface Transaction {
  readonly endToEndId: string;
  /** Absent while only a reversal is known, as are `amount` and `occurredAt`. */
  readonly eventType?: EventType;
  readonly txId?: string;
  readonly amount?: string;
  readonly occurredAt?: UtcTime;
  readonly status?: string;
  readonly reversals: readonly Reversal[];
  /** Ids of the events that told of it, by which deliveries are listed. */
  readonly events: readonly string[];
  /** True for what a test notification named. */
  readonly test?: boolean;
}

export interface NotificationFilter {
  /** The `nextCursor` of the page before, or `now`; default: from the oldest kept. */
  readonly after?: string;
  readonly eventType?: EventType;
  readonly limit?: number;
  /** Seconds to wait for something when nothing is there, at most 25. */
  readonly wait?: number;
}

/** Notifications as they were rendered. */
export interface NotificationPage {
  readonly data: readonly {
    readonly id: string;
    readonly eventType: EventType;
    /** The exact text whose bytes are posted and signed. */
    readonly body: string;
  }[];
  readonly results: number;
  readonly nextCursor: string;
  /** More is there already. */
  readonly hasMore: boolean;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'dead' | 'cancelled';

/** One delivery of the log. */
export interface DeliverySummary {
  readonly deliveryId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly status: DeliveryStatus;
  readonly createdAt: UtcTime;
}

/** One attempt of a delivery. */
export interface DeliveryAttempt {
  /** `0`, or the redelivery that it belongs to. */
  readonly cycle: string;
  readonly attempt: number;
  readonly at: UtcTime;
  readonly durationMs: number;
  readonly result: string;
  /** HTTP status of the answer. */
  readonly status?: number;
  /** Class of a failure without an answer. */
  readonly error?: string;
}

export interface DeliveryDetail extends DeliverySummary {
  readonly attempts: readonly DeliveryAttempt[];
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

export interface DeliveryList {
  readonly data: readonly DeliverySummary[];
  readonly results: number;
  readonly nextCursor?: string;
}

/** What Kafka has of a delivery that is made again. */
export interface Redelivered {
  readonly deliveryId: string;
  readonly cycle: string;
}

export interface RedeliveryInput {
  readonly ref?: string;
  readonly eventType?: EventType;
  /** Default `dead`. */
  readonly status?: 'dead' | 'cancelled' | 'delivered' | 'missed';
  readonly from: UtcTime;
  readonly to?: UtcTime;
}

/** How many deliveries match. */
export interface RedeliveryCount {
  readonly matched: number;
  /** There were too many to count them all in time: `matched` or more. */
  readonly matchedIsLowerBound: boolean;
}

/** A job that sends many deliveries again. */
export interface Redelivery extends RedeliveryCount {
  readonly id: string;
  readonly state: 'running' | 'completed' | 'cancelled';
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
}

/** How an endpoint has been doing. */
export interface EndpointHealth {
  readonly ref: string;
  readonly state: 'disabled' | 'idle' | 'healthy' | 'failing' | 'paused';
  readonly failingSince?: UtcTime;
  readonly until?: UtcTime;
  readonly lastHour: HealthWindow;
  readonly lastDay: HealthWindow;
  readonly failures: readonly { readonly class: string; readonly count: number; readonly lastAt: UtcTime }[];
}

export interface HealthWindow {
  readonly attempts: number;
  /** 0 to 1. */
  readonly successRate?: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

/** The delivery that a test notification made. */
export interface TestNotification {
  readonly deliveryId: string;
  readonly eventId: string;
}
