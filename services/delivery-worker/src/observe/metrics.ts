import { Counter, Histogram } from '@webhooks/runtime';
import type { Registry } from '@webhooks/runtime';
import { DEAD_REASONS } from '../path/decide.js';
import type { Settlement } from '../path/decide.js';
import { classOf } from '../path/outcome.js';
import type { AttemptOutcome } from '../path/outcome.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const END_TO_END_SECONDS = [...SECONDS, 60, 600, 3_600, 36_000, 360_000];

/** In seconds. */
const createTimings = (registers: Registry[]) => ({
  delay: new Histogram({
    name: 'webhook_first_attempt_delay_seconds',
    help: 'From an event being in Kafka to the start of its first attempt; once it was deferred, from being read',
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
});

function createEventCounts(registers: Registry[]) {
  const events = new Counter({
    name: 'webhook_events_total',
    help: 'Records read from payments.events, by what becomes of them',
    labelNames: ['result'],
    registers,
  });
  // Read as 0 from the start, so that an alert sees the first one.
  const counted = (result: string) => {
    events.inc({ result }, 0);
    return events.labels({ result });
  };
  return {
    rejected: counted('rejected'),
    unmatched: counted('unmatched'),
    unconfigured: counted('unconfigured'),
    fannedOut: counted('fanned-out'),
  };
}

/** Counts attempts and times them, by outcome class. */
function createAttemptMeter(registers: Registry[]): (outcome: AttemptOutcome) => void {
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts, by outcome class',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time of one attempt',
    buckets: SECONDS,
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => {
    const labels = { outcome: classOf(outcome) };
    attempts.inc(labels);
    duration.observe(labels, outcome.durationMs / 1_000);
  };
}

function createSettlementMeter(registers: Registry[]): (settlement: Settlement) => void {
  const settlements = new Counter({
    name: 'webhook_settlements_total',
    help: 'Decisions, by kind and reason',
    labelNames: ['kind', 'reason'],
    registers,
  });
  // Read as 0 from the start, so that an alert sees the first one.
  for (const reason of DEAD_REASONS) settlements.inc({ kind: 'dead', reason }, 0);
  return (settlement) => {
    const reason = 'reason' in settlement ? settlement.reason : '';
    settlements.inc({ kind: settlement.kind, reason });
  };
}

/** What is counted and timed on the way of a delivery. */
export function createMeters(registry: Registry) {
  const registers = [registry];
  return {
    ...createEventCounts(registers),
    attempted: createAttemptMeter(registers),
    settled: createSettlementMeter(registers),
    ...createTimings(registers),
    damaged: new Counter({
      name: 'webhook_damaged_tasks_total',
      help: 'Records of deliveries and retries that could not be read',
      registers,
    }),
  };
}
