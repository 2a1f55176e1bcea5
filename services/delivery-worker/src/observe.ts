import { Counter, Histogram, errorFields } from '@webhooks/runtime';
import type { Logger, Registry } from '@webhooks/runtime';
import type { EventResult } from './consume-event.js';
import type { Settled } from './deliver.js';
import { classOf } from './outcome.js';
import type { AttemptOutcome } from './outcome.js';

/** None of them throws: what happened has happened, whether or not it can be counted. */
export interface Observers {
  readonly settled: (settled: Settled) => void;
  readonly event: (result: EventResult) => void;
  readonly damaged: () => void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const END_TO_END_SECONDS = [...SECONDS, 60, 600, 3_600, 36_000, 360_000];

function createTimings(registers: Registry[]) {
  return {
    duration: new Histogram({
      name: 'webhook_attempt_duration_seconds',
      help: 'Time of one attempt',
      labelNames: ['outcome'],
      buckets: SECONDS,
      registers,
    }),
    delay: new Histogram({
      name: 'webhook_first_attempt_delay_seconds',
      help: 'From an event being in Kafka to the start of its first attempt; once it was parked, from being read',
      buckets: SECONDS,
      registers,
    }),
    delivery: new Histogram({
      name: 'webhook_delivery_seconds',
      help: 'From an event being in Kafka to the 2xx of an endpoint, retries included',
      buckets: END_TO_END_SECONDS,
      registers,
    }),
    lateness: new Histogram({
      name: 'webhook_retry_lateness_seconds',
      help: 'From the due time of a retry to the start of its attempt',
      buckets: SECONDS,
      registers,
    }),
  };
}

function createMeters(registry: Registry) {
  const registers = [registry];
  return {
    events: new Counter({
      name: 'webhook_events_total',
      help: 'Records read from payments.events, by what becomes of them',
      labelNames: ['result'],
      registers,
    }),
    attempts: new Counter({
      name: 'webhook_attempts_total',
      help: 'Attempts, by outcome class',
      labelNames: ['outcome'],
      registers,
    }),
    settlements: new Counter({
      name: 'webhook_settlements_total',
      help: 'Decisions, by kind and reason',
      labelNames: ['kind', 'reason'],
      registers,
    }),
    ...createTimings(registers),
    damaged: new Counter({
      name: 'webhook_damaged_tasks_total',
      help: 'Records of deliveries and retries that could not be read',
      registers,
    }),
  };
}

const outcomeFields = (outcome: AttemptOutcome): Record<string, unknown> => ({
  ...('status' in outcome ? { status: outcome.status } : { error: outcome.error }),
  ...('code' in outcome ? { code: outcome.code } : {}),
  durationMs: Math.round(outcome.durationMs),
});

/** The wide line of one attempt: no body, no URL, no secret. */
const fieldsOf = ({ task, outcome, settlement }: Settled): Record<string, unknown> => ({
  eventId: task.eventId,
  deliveryId: task.deliveryId,
  tenantId: task.tenantId,
  ref: task.ref,
  eventType: task.eventType,
  attempt: task.attempt,
  ...(outcome ? outcomeFields(outcome) : {}),
  settlement: settlement.kind,
  ...('reason' in settlement ? { reason: settlement.reason } : {}),
  ...('dueAt' in settlement ? { nextAt: new Date(settlement.dueAt).toISOString() } : {}),
});

/**
 * Since when it has waited for its first attempt, or for its success: as soon as Kafka had it. What was parked before its first
 * attempt is due later by now, and has waited since it was read.
 */
const waitingSince = ({ attempt, parkedCount, dueAt, firstDueAt }: Settled['task']): number =>
  attempt === 1 && parkedCount === 0 ? dueAt : firstDueAt;

/** A fault of observing is told and no more: thrown, it would make a settled delivery "not handled", and post it again. */
const harmless =
  <T extends unknown[]>(log: Logger, observe: (...told: T) => void): ((...told: T) => void) =>
  (...told) => {
    try {
      observe(...told);
    } catch (error) {
      log.error('something was not counted', errorFields(error));
    }
  };

/**
 * Metrics and log lines of the path, made side by side so that they cannot disagree. Of successes, and of deliveries that
 * the gate parked (a backlog can be millions), one in `sampleOf` is logged.
 */
export function createObservers(registry: Registry, log: Logger, sampleOf: number): Observers {
  const meters = createMeters(registry);
  let ordinary = 0;
  const observeAttempt = ({ task, outcome, at }: Settled): void => {
    if (!outcome) return;
    const label = { outcome: classOf(outcome) };
    meters.attempts.inc(label);
    meters.duration.observe(label, outcome.durationMs / 1_000);
    const since = waitingSince(task);
    if (outcome.kind === 'accepted')
      meters.delivery.observe(Math.max(0, at + outcome.durationMs - since) / 1_000);
    if (task.attempt === 1) meters.delay.observe(Math.max(0, at - since) / 1_000);
    else meters.lateness.observe(Math.max(0, at - task.dueAt) / 1_000);
  };
  const isOrdinary = ({ settlement }: Settled): boolean =>
    settlement.kind === 'delivered' || (settlement.kind === 'parked' && settlement.reason !== 'fault');
  const isLogged = (settled: Settled): boolean => !isOrdinary(settled) || ordinary++ % sampleOf === 0;
  return {
    settled: harmless(log, (settled) => {
      const { settlement } = settled;
      observeAttempt(settled);
      meters.settlements.inc({
        kind: settlement.kind,
        reason: 'reason' in settlement ? settlement.reason : '',
      });
      if (isLogged(settled)) log.info('attempt', fieldsOf(settled));
    }),
    event: harmless(log, (result) => {
      if ('rejected' in result)
        log.warn('a record of payments.events was rejected', { reason: result.rejected });
      meters.events.inc({
        result: 'rejected' in result ? 'rejected' : result.deliveries === 0 ? 'unmatched' : 'fanned-out',
      });
    }),
    damaged: harmless(log, () => meters.damaged.inc()),
  };
}
