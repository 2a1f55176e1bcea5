import { LONGEST_TIMEOUT_MS } from '@webhooks/contracts';
import { addCounter, Histogram } from '@webhooks/runtime';
import type { Registry } from '@webhooks/runtime';
import { outcomeClass } from '../path/attempt.js';
import type { AttemptOutcome } from '../path/attempt.js';
import { DEAD_REASONS } from '../path/decide.js';
import type { Settlement } from '../path/decide.js';

const EVENT_RESULTS = ['rejected', 'unmatched', 'unconfigured', 'fanned-out'] as const;
const TO_TEN_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds of the histograms, seconds; the last is the longest attempt. */
const SECONDS = [...TO_TEN_SECONDS, LONGEST_TIMEOUT_MS / 1_000];
/** With the objective of a first attempt, 1.5 s. */
const FIRST_ATTEMPT_SECONDS = [...SECONDS, 1.5].sort((one, other) => one - other);
const END_TO_END_SECONDS = [...SECONDS, 60, 600, 3_600, 36_000, 360_000];

/** Counters and histograms of deliveries. */
export function createMeters(registry: Registry) {
  const seconds = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames, registers: [registry] });
  const read = 'Records read from payments.events, by what becomes of them';
  const events = addCounter(registry, 'webhook_events_total', read, 'result');
  const attempts = addCounter(registry, 'webhook_attempts_total', 'Attempts, by outcome class', 'outcome');
  const duration = seconds('webhook_attempt_duration_seconds', 'Time of one attempt', SECONDS, 'outcome');
  const decisions = 'Decisions, by kind and reason';
  const settlements = addCounter(registry, 'webhook_settlements_total', decisions, 'kind', 'reason');
  // The series start at 0, so that an alert sees the first increment.
  for (const result of EVENT_RESULTS) events.inc({ result }, 0);
  for (const reason of DEAD_REASONS) settlements.inc({ kind: 'dead', reason }, 0);
  settlements.inc({ kind: 'deferred', reason: 'fault' }, 0);
  attempts.inc({ outcome: 'ADDRESS_DENIED' }, 0);
  return {
    event: (result: (typeof EVENT_RESULTS)[number]) => events.inc({ result }),
    attempted: (outcome: AttemptOutcome): void => {
      const labels = { outcome: outcomeClass(outcome) };
      attempts.inc(labels);
      duration.observe(labels, outcome.durationMs / 1_000);
    },
    settled: (settlement: Settlement): void =>
      settlements.inc({ kind: settlement.kind, reason: 'reason' in settlement ? settlement.reason : '' }),
    delay: seconds(
      'webhook_first_attempt_delay_seconds',
      'From an event being in Kafka to the start of its first attempt, unless that was deferred before',
      FIRST_ATTEMPT_SECONDS,
    ),
    delivery: seconds(
      'webhook_delivery_seconds',
      'From an event being in Kafka to the 2xx of an endpoint, retries included',
      END_TO_END_SECONDS,
    ),
    lateness: seconds(
      'webhook_retry_lateness_seconds',
      'From the due time of a retry to the start of its attempt',
      SECONDS,
    ),
    damaged: addCounter(
      registry,
      'webhook_damaged_tasks_total',
      'Records of deliveries, fan-outs and retries that could not be read or handled',
    ),
  };
}
