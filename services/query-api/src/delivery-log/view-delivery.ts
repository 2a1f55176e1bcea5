import { causeOf } from '@webhooks/contracts';
import type { EventType, UtcTime } from '@webhooks/contracts';
import { FIRST_CYCLE, attemptsOf } from './delivery.js';
import type { Delivery, DeliveryStatus, LoggedAttempt } from './delivery.js';
import { present } from '../present.js';

/** A delivery as a list shows it. */
export interface DeliverySummary {
  readonly deliveryId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly status: DeliveryStatus;
  /** Why it is dead or cancelled. */
  readonly reason?: string;
  /** `0`, or the id of the latest redelivery. */
  readonly cycle: string;
  readonly redelivery: boolean;
  /** When it was first heard of, and last. */
  readonly createdAt: UtcTime;
  readonly updatedAt: UtcTime;
  /** When a pending one is attempted next. */
  readonly nextAt?: UtcTime;
  /** The same, when that attempt was put aside before: the endpoint fails or is slow. */
  readonly parkedUntil?: UtcTime;
  /** Number of the latest attempt, and what came of it: the status of the answer or the class of the failure. */
  readonly lastAttempt?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly lastCode?: string;
  readonly lastCause?: string;
}

export interface AttemptView {
  readonly attempt: number;
  readonly cycle: string;
  readonly redelivery: boolean;
  readonly at: UtcTime;
  readonly durationMs: number;
  readonly result: 'delivered' | 'failed';
  readonly status?: number;
  readonly error?: string;
  readonly code?: string;
  /** Of what failed: a sentence to act on. */
  readonly cause?: string;
  readonly nextAt?: UtcTime;
}

export interface DeliveryView extends DeliverySummary {
  /** The oldest first. */
  readonly attempts: readonly AttemptView[];
  /** There were more than are kept; those between the first and the newest are left out. */
  readonly truncated?: true;
}

const timeOf = (ms: number): UtcTime => new Date(ms).toISOString();

/** `attempts` may be the last one only. */
export function viewSummary(delivery: Delivery): DeliverySummary {
  const { deliveryId, ref, eventId, eventType, state, createdAt, updatedAt } = delivery;
  const last = attemptsOf(delivery).at(-1);
  const nextAt = state.nextAt === undefined ? undefined : timeOf(state.nextAt);
  return {
    deliveryId,
    ref,
    eventId,
    eventType,
    status: state.status,
    cycle: state.cycle,
    redelivery: state.cycle !== FIRST_CYCLE,
    createdAt: timeOf(createdAt),
    updatedAt: timeOf(updatedAt),
    ...present({ reason: state.reason, nextAt, parkedUntil: state.parked && nextAt }),
    ...present({ lastAttempt: last?.attempt, lastStatus: last?.status, lastError: last?.error }),
    ...present({ lastCode: last?.code, lastCause: last && causeOf(last) }),
  };
}

function viewAttempt({ attempt, cycle, at, durationMs, result, ...rest }: LoggedAttempt): AttemptView {
  const { status, error, code, nextAt } = rest;
  return {
    attempt,
    cycle,
    redelivery: cycle !== FIRST_CYCLE,
    at: timeOf(at),
    durationMs,
    result,
    ...present({ status, error, code, cause: causeOf(rest) }),
    ...present({ nextAt: nextAt === undefined ? undefined : timeOf(nextAt) }),
  };
}

export const viewDelivery = (delivery: Delivery): DeliveryView => ({
  ...viewSummary(delivery),
  attempts: attemptsOf(delivery).map(viewAttempt),
  ...present({ truncated: delivery.truncated }),
});
