import { parseAttemptHistory } from '@webhooks/contracts';
import type { AttemptHistory, EventType, HistoryEntry } from '@webhooks/contracts';
import { by, inTurn } from '../order.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The cycle of a first sending; a redelivery has its own id there. */
export const FIRST_CYCLE = '0';

/** One attempt in the log. Times are Unix milliseconds. */
export interface LoggedAttempt {
  readonly cycle: string;
  readonly attempt: number;
  readonly at: number;
  readonly durationMs: number;
  readonly result: 'delivered' | 'failed';
  readonly status?: number;
  readonly error?: string;
  readonly code?: string;
  readonly nextAt?: number;
  /** `topic/partition/offset` of the handled record; empty when only a dead letter reports the attempt. */
  readonly source: string;
}

/** The state of a delivery in one cycle, with the entry that reports it. Times are Unix milliseconds. */
export interface DeliveryState {
  readonly cycle: string;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly at: number;
  /** Of a dead or cancelled delivery. */
  readonly reason?: string;
  /** Of a pending delivery. */
  readonly nextAt?: number;
  /** The attempt could not be made when it was due. */
  readonly deferred?: true;
}

/** The history that a dead letter carries. */
export interface DeadHistory {
  readonly cycle: string;
  readonly text: AttemptHistory;
}

/** A delivery. Times are Unix milliseconds. */
export interface Delivery {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: EventType;
  /** Time of the earliest entry. */
  readonly createdAt: number;
  /** Time of the latest entry. */
  readonly updatedAt: number;
  readonly state: DeliveryState;
  /** Sorted by `cycle`, `attempt` and `source`; at most `MAX_ATTEMPTS`. */
  readonly attempts: readonly LoggedAttempt[];
  /** Attempts between the first and the newest were left out. */
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

const byTime = inTurn<LoggedAttempt>(
  by(({ cycle }) => cycle),
  by(({ attempt }) => attempt),
  by(({ at }) => at),
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
