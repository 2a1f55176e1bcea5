import type { AttemptEntry, NotificationKind } from '@webhooks/contracts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The cycle of the first delivery. The cycle of a redelivery is `r` and its id. */
export const FIRST_CYCLE = '0';

type ReportedField = 'attempt' | 'at' | 'durationMs' | 'result' | 'status' | 'error' | 'code' | 'nextAt';

/** One attempt in the log, with the fields of the entry that reports it. */
export interface LoggedAttempt extends Pick<AttemptEntry, ReportedField> {
  readonly cycle: string;
  /** `topic/partition/offset` of the task's record; empty when only a dead letter reports the attempt. */
  readonly source: string;
}

/** The state of a delivery in one cycle, with the fields of the entry that reports it. Times are Unix milliseconds. */
export interface DeliveryState {
  readonly cycle: string;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly at: number;
  /** Why the delivery is dead or cancelled; absent for any other status. */
  readonly reason?: string;
  /** When the next attempt is due, if the delivery is pending. */
  readonly nextAt?: number;
  /** True when the attempt was not made when it was due. */
  readonly deferred?: true;
}

/** A delivery, as its entries report it. Times are Unix milliseconds. */
export interface Delivery {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: NotificationKind;
  /** When the event was accepted, and its amount in cents; absent when no entry reports them. */
  readonly acceptedAt?: number;
  readonly cents?: number;
  /** Time of the earliest entry, or of an earlier attempt that a dead letter reports. */
  readonly createdAt: number;
  /** Time of the latest entry. */
  readonly updatedAt: number;
  readonly state: DeliveryState;
  /** Sorted by `cycle`, `attempt` and `source`; at most `MAX_ATTEMPTS`. */
  readonly attempts: readonly LoggedAttempt[];
  /** True when attempts between the first and the newest were left out. */
  readonly truncated?: true;
}
