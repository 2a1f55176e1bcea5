import { causeOf, isReturned } from '@webhooks/contracts';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Logger, Registry } from '@webhooks/runtime';
import { createMeters } from './metrics.js';
import { failureFields } from '../path/attempt.js';
import type { AttemptOutcome } from '../path/attempt.js';
import type { EventResult } from '../path/consume-event.js';
import type { Settled } from '../path/settle.js';

function outcomeFields(outcome: AttemptOutcome): Record<string, unknown> {
  const failure = failureFields(outcome);
  return { ...failure, cause: causeOf(failure), durationMs: Math.round(outcome.durationMs) };
}

/** Fields of the log line of one attempt: no body, no URL, no secret. */
function fieldsOf({ task, outcome, settlement }: Settled): Record<string, unknown> {
  const { eventId, deliveryId, tenantId, ref, eventType, attempt } = task;
  return {
    ...{ eventId, deliveryId, tenantId, ref, eventType, attempt },
    ...(outcome ? outcomeFields(outcome) : {}),
    settlement: settlement.kind,
    ...('reason' in settlement ? { reason: settlement.reason } : {}),
    ...('dueAt' in settlement ? { nextAt: new Date(settlement.dueAt).toISOString() } : {}),
  };
}

/**
 * From when the delay counts, Unix milliseconds: from the time in Kafka. A task that was deferred before its first
 * attempt has a later `dueAt`, so it counts from being read.
 */
const waitingSince = (task: Settled['task']): number => (isReturned(task) ? task.firstDueAt : task.dueAt);

function countedAs(result: EventResult): 'rejected' | 'unconfigured' | 'unmatched' | 'fanned-out' {
  if ('rejected' in result) return 'rejected';
  if ('unconfiguredTenantId' in result) return 'unconfigured';
  return result.deliveries === 0 ? 'unmatched' : 'fanned-out';
}

/** Logs a fault of observing. Thrown, it would make a settled delivery "not handled" and post it again. */
const harmless =
  <T extends unknown[]>(log: Logger, observe: (...args: T) => void): ((...args: T) => void) =>
  (...args) => {
    try {
      observe(...args);
    } catch (error) {
      log.error('something was not counted', errorFields(error));
    }
  };

/**
 * Metrics and log lines of deliveries, made together so that they agree. None throws. Of successes and of admission's
 * deferrals, which can be millions, one in `sampleOf` is logged.
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
    if (task.attempt === 1) meters.delay.observe(Math.max(0, at - since) / 1_000);
    else meters.lateness.observe(Math.max(0, at - task.dueAt) / 1_000);
  };
  const isOrdinary = ({ settlement }: Settled): boolean =>
    settlement.kind === 'delivered' || (settlement.kind === 'deferred' && settlement.reason !== 'fault');
  const isLogged = (settled: Settled): boolean => !isOrdinary(settled) || ordinary++ % sampleOf === 0;
  return {
    settled: harmless(log, (settled: Settled) => {
      observeAttempt(settled);
      meters.settled(settled.settlement);
      if (isLogged(settled)) log.info('attempt', fieldsOf(settled));
    }),
    event: harmless(log, (result: EventResult) => {
      if ('rejected' in result)
        log.warn('a record of payments.events was rejected', { reason: result.rejected });
      if ('unconfiguredTenantId' in result)
        unconfigured((events) => {
          const fields = { events, latestTenantId: result.unconfiguredTenantId };
          log.warn('events of a tenant without any webhook', fields);
        });
      meters.event(countedAs(result));
    }),
    damaged: harmless(log, () => meters.damaged.inc()),
  };
}

export type Observers = ReturnType<typeof createObservers>;
