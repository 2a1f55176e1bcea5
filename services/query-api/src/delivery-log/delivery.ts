import { parseAttemptHistory } from '@webhooks/contracts';
import type { AttemptHistory, EventType, HistoryEntry } from '@webhooks/contracts';
import { byNumber, byText, inTurn } from '../order.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The cycle of what is sent for the first time; a redelivery has its own id there. */
export const FIRST_CYCLE = '0';

/** One attempt as the log keeps it. Times are Unix milliseconds. */
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
  /** `topic/partition/offset` of the record that was handled; empty when only a dead letter tells of the attempt. */
  readonly source: string;
}

/** Where a delivery stands in one cycle, and the entry that says so. Times are Unix milliseconds. */
export interface DeliveryState {
  readonly cycle: string;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly at: number;
  /** Of what is dead or cancelled. */
  readonly reason?: string;
  /** Of what is pending. */
  readonly nextAt?: number;
  /** The attempt could not be made when it was due and waits on. */
  readonly deferred?: true;
}

/** The history that a dead letter carries. */
export interface DeadHistory {
  readonly cycle: string;
  readonly text: AttemptHistory;
}

/** All that is known of a delivery. Times are Unix milliseconds. */
export interface Delivery {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: EventType;
  /** Of the earliest entry. */
  readonly createdAt: number;
  /** Of the latest entry. */
  readonly updatedAt: number;
  readonly state: DeliveryState;
  /** In the order of `cycle`, `attempt` and `source`; at most `MAX_ATTEMPTS`. */
  readonly attempts: readonly LoggedAttempt[];
  /** Attempts were left out: those between the first and the newest. */
  readonly truncated?: true;
  readonly history?: DeadHistory;
}

const fromHistory = (cycle: string, { result, ...told }: HistoryEntry): LoggedAttempt => ({
  cycle,
  ...told,
  result: 'failed',
  ...(typeof result === 'number' ? { status: result } : { error: result }),
  source: '',
});

const byTime = inTurn<LoggedAttempt>(
  byText(({ cycle }) => cycle),
  byNumber(({ attempt }) => attempt),
  byNumber(({ at }) => at),
);

/** Every attempt that is known, in order: those that were logged, and those that only a dead letter tells of. */
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
