import { causeOf } from '@webhooks/contracts';
import type { KnownConfiguration } from '../configurations.js';
import { FIRST_CYCLE } from './delivery-state.js';
import type { Delivery, LoggedAttempt } from './delivery-state.js';
import { omitUndefined } from '../omit-undefined.js';
import { readRow } from '../payments/event-store.js';
import type { EventRow } from '../payments/event-store.js';
import { viewEvent } from '../payments/view-transaction.js';

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** The event and the webhook of a delivery, as they are known now. */
export interface Related {
  readonly event: EventRow | undefined;
  readonly webhook: Pick<KnownConfiguration, 'endpointUrl'> | undefined;
}

function viewRelated({ event, webhook }: Related) {
  const payment: Partial<ReturnType<typeof viewEvent>> = event ? viewEvent(readRow(event)) : {};
  const { endToEndId, txId, amount } = payment;
  return omitUndefined({ endpointUrl: webhook?.endpointUrl, endToEndId, txId, amount });
}

/** A delivery as a list shows it. `attempts` may contain only the last attempt. */
export function viewSummary(delivery: Delivery, related: Related) {
  const { deliveryId, ref, eventId, eventType, state, createdAt, updatedAt } = delivery;
  const last = delivery.attempts.at(-1);
  const nextAt = state.nextAt === undefined ? undefined : timeOf(state.nextAt);
  return {
    deliveryId,
    ref,
    eventId,
    eventType,
    ...viewRelated(related),
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
export const viewDelivery = (delivery: Delivery, related: Related) => ({
  ...viewSummary(delivery, related),
  attempts: delivery.attempts.map(viewAttempt),
  ...omitUndefined({ truncated: delivery.truncated }),
});
