import { causeOf } from '@webhooks/contracts';
import { attemptsOf, FIRST_CYCLE } from './delivery-state.js';
import type { Delivery, LoggedAttempt } from './delivery-state.js';
import { omitUndefined } from '../omit-undefined.js';

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** A delivery as a list shows it. `attempts` may contain only the last attempt. */
export function viewSummary(delivery: Delivery) {
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
    ...omitUndefined({ reason: state.reason, nextAt, deferredUntil: state.deferred && nextAt }),
    ...omitUndefined({ lastAttempt: last?.attempt, lastStatus: last?.status, lastError: last?.error }),
    ...omitUndefined({ lastCode: last?.code, lastCause: last && causeOf(last) }),
  };
}

function viewAttempt({ attempt, cycle, at, durationMs, result, ...rest }: LoggedAttempt) {
  const { status, error, code, nextAt } = rest;
  return {
    attempt,
    cycle,
    redelivery: cycle !== FIRST_CYCLE,
    at: timeOf(at),
    durationMs,
    result,
    ...omitUndefined({ status, error, code, cause: causeOf(rest) }),
    ...omitUndefined({ nextAt: nextAt === undefined ? undefined : timeOf(nextAt) }),
  };
}

/** A delivery with all its attempts, the oldest first. */
export const viewDelivery = (delivery: Delivery) => ({
  ...viewSummary(delivery),
  attempts: attemptsOf(delivery).map(viewAttempt),
  ...omitUndefined({ truncated: delivery.truncated }),
});
