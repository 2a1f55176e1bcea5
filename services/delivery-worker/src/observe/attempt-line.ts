import { causeOf, isReturned, traceIdOf } from '@webhooks/contracts';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Logger, Registry } from '@webhooks/runtime';
import { createMeters } from './metrics.js';
import { resultFields } from '../path/attempt.js';
import type { AttemptOutcome } from '../path/attempt.js';
import type { EventResult } from '../path/consume-event.js';
import type { Settled } from '../path/settle.js';

function outcomeFields(outcome: AttemptOutcome): Record<string, unknown> {
  const result = resultFields(outcome);
  return { ...result, cause: causeOf(result), durationMs: Math.round(outcome.durationMs) };
}

/** Fields of an attempt's log line. They contain no body, no URL and no secret. */
function fieldsOf({ task, outcome, settlement }: Settled): Record<string, unknown> {
  const { eventId, deliveryId, tenantId, ref, eventType, attempt, traceparent } = task;
  return {
    ...{ eventId, deliveryId, tenantId, ref, eventType, attempt, traceId: traceIdOf(traceparent) },
    ...(outcome ? outcomeFields(outcome) : {}),
    settlement: settlement.kind,
    ...('reason' in settlement ? { reason: settlement.reason } : {}),
    ...('dueAt' in settlement ? { nextAt: new Date(settlement.dueAt).toISOString() } : {}),
  };
}

/**
 * The start of the measured delay, Unix milliseconds: the record's time in Kafka. A task that was deferred before
 * its first attempt has a later `dueAt`, so its delay starts when the event was read.
 */
const waitingSince = (task: Settled['task']): number => (isReturned(task) ? task.firstDueAt : task.dueAt);

function countedAs(result: EventResult): 'rejected' | 'unconfigured' | 'unmatched' | 'fanned-out' {
  if ('rejected' in result) return 'rejected';
  if ('unconfiguredTenantId' in result) return 'unconfigured';
  return result.deliveries === 0 ? 'unmatched' : 'fanned-out';
}

/** Logs a fault of `observe`. If it were thrown, a settled delivery would count as not handled and be posted again. */
const logFaults =
  <T extends unknown[]>(log: Logger, observe: (...args: T) => void): ((...args: T) => void) =>
  (...args) => {
    try {
      observe(...args);
    } catch (error) {
      log.error('a metric or log line of a delivery failed', errorFields(error));
    }
  };

/**
 * Metrics and log lines of deliveries, made together so that they agree. None throws. Successes and deferrals by
 * admission can be millions, so only one in `sampleOf` of them is logged.
 */
export function createObservers(registry: Registry, log: Logger, sampleOf: number) {
  const meters = createMeters(registry);
  const unconfigured = createLogThrottle();
  let ordinary = 0;
  const observeAttempt = ({ task, outcome, at }: Settled): void => {
    if (!outcome) return;
    meters.attempted(outcome);
    const since = waitingSince(task);
    if (outcome.kind === 'accepted')
      meters.delivery.observe(Math.max(0, at + outcome.durationMs - since) / 1_000);
    // What was deferred before waited for its endpoint, or for a fault that has an alert of its own.
    if (!isReturned(task)) meters.delay.observe(Math.max(0, at - since) / 1_000);
    else if (task.attempt > 1) meters.lateness.observe(Math.max(0, at - task.dueAt) / 1_000);
  };
  const isOrdinary = ({ settlement }: Settled): boolean =>
    settlement.kind === 'delivered' || (settlement.kind === 'deferred' && settlement.reason !== 'fault');
  const isLogged = (settled: Settled): boolean => !isOrdinary(settled) || ordinary++ % sampleOf === 0;
  return {
    settled: logFaults(log, (settled: Settled) => {
      observeAttempt(settled);
      meters.settled(settled.settlement);
      if (isLogged(settled)) log.info('attempt', fieldsOf(settled));
    }),
    event: logFaults(log, (result: EventResult) => {
      if ('rejected' in result)
        log.warn('a record of payments.events was rejected', { reason: result.rejected });
      if ('unconfiguredTenantId' in result)
        unconfigured((events) => {
          const fields = { events, latestTenantId: result.unconfiguredTenantId };
          log.warn('events of a tenant without any webhook', fields);
        });
      meters.event(countedAs(result));
    }),
    damaged: logFaults(log, () => meters.damaged.inc()),
  };
}

export type Observers = ReturnType<typeof createObservers>;
