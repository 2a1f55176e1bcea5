import { parseAttemptHistory } from '@webhooks/contracts';
import type { AttemptEntry, AttemptHistory, HistoryEntry, NotificationKind } from '@webhooks/contracts';
import { orderBy, chainOrders } from '../order.js';

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

/** The attempts that a dead letter reports. */
export interface DeadHistory {
  readonly cycle: string;
  readonly text: AttemptHistory;
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
  /** Time of the earliest entry. */
  readonly createdAt: number;
  /** Time of the latest entry. */
  readonly updatedAt: number;
  readonly state: DeliveryState;
  /** Sorted by `cycle`, `attempt` and `source`; at most `MAX_ATTEMPTS`. */
  readonly attempts: readonly LoggedAttempt[];
  /** True when attempts between the first and the newest were left out. */
  readonly truncated?: true;
  readonly history?: DeadHistory;
}

const fromHistory = (cycle: string, { result, ...entry }: HistoryEntry): LoggedAttempt => ({
  cycle,
  ...entry,
  result: 'failed',
  ...(typeof result === 'number' ? { status: result } : { error: result }),
  source: '',
});

const byTime = chainOrders<LoggedAttempt>(
  orderBy(({ cycle }) => cycle),
  orderBy(({ attempt }) => attempt),
  orderBy(({ at }) => at),
);

/** Every known attempt in order: those in the log, and those that only a dead letter reports. */
export function attemptsOf({
  attempts,
  history,
}: Pick<Delivery, 'attempts' | 'history'>): readonly LoggedAttempt[] {
  const logged = new Set(attempts.map(({ cycle, attempt }) => `${attempt}/${cycle}`));
  const others = parseAttemptHistory(history?.text)
    .map((entry) => fromHistory(history?.cycle ?? '', entry))
    .filter(({ cycle, attempt }) => !logged.has(`${attempt}/${cycle}`));
  return [...attempts, ...others].sort(byTime);
}
