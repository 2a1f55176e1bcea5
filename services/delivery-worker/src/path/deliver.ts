import { attemptEnd, attemptSpan, settleSpan } from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import { endAfter, type Tracing } from '@webhooks/runtime';
import type { Admission } from '../admission/admission.js';
import type { Permit, PermitEnd } from '../admission/endpoint-state.js';
import type { ConfigurationCache } from '../configurations/configuration-cache.js';
import type { Configuration } from '../configurations/configuration.js';
import { currentConfiguration, isCurrent } from '../configurations/current-configuration.js';
import { attempt, resultFields, resultLabel, toOutcome } from './attempt.js';
import type { AttemptOptions, AttemptOutcome } from './attempt.js';
import { decide, defer, deferAfterFault, isLast } from './decide.js';
import type { DeadReason, DecisionInput, RetrySchedule, Settlement } from './decide.js';
import { settle } from './settle.js';
import type { SettlePorts, Settled } from './settle.js';

/** What a delivery depends on. */
export interface DeliverPorts extends AttemptOptions, SettlePorts {
  readonly cache: ConfigurationCache;
  readonly admission: Pick<Admission, 'admit' | 'release' | 'throttle'>;
  readonly schedule: RetrySchedule;
  readonly startSpan: Tracing['startSpan'];
  /** Logs a fault of this system that prevented an attempt. Must not throw. */
  readonly onFault: (task: DeliveryTask, fault: unknown) => void;
  /** Counts and logs a settled delivery. Must not throw: the task would be attempted again. */
  readonly observe: (settled: Settled) => void;
}

type Decided = Omit<Settled, 'task' | 'source'>;

const noAttempt = (settlement: Settlement): Decided => ({ outcome: undefined, at: Date.now(), settlement });

const UNKNOWN_WEBHOOK = new Error('webhooks.configurations lacks this webhook');

const toPermitEnd = (outcome: AttemptOutcome): PermitEnd =>
  outcome.kind === 'accepted'
    ? { kind: 'succeeded', durationMs: outcome.durationMs }
    : { kind: 'failed', label: resultLabel(outcome) };

/** The inputs of the delivery rules. `delaysMs`: the retry delays of the delivery policy; default: the worker's. */
const decisionInputOf = (
  { firstDueAt, attempt }: DeliveryTask,
  { schedule }: DeliverPorts,
  delaysMs = schedule.delaysMs,
): DecisionInput => ({
  firstDueAt,
  attempt,
  now: Date.now(),
  schedule: { ...schedule, delaysMs },
  random: Math.random(),
});

function afterFault(
  task: DeliveryTask,
  fault: unknown,
  ports: DeliverPorts,
  deadReason?: DeadReason,
): Decided {
  ports.onFault(task, fault);
  return noAttempt(deferAfterFault(task.deferralCount, decisionInputOf(task, ports), deadReason));
}

/**
 * Makes the attempt and decides on its outcome. Returns undefined when the configuration changed before a connection
 * was ready. A fault defers only this task: if it were thrown, the record would not be handled, and all its
 * deliveries would be posted again.
 */
async function makeAttempt(
  permit: Permit,
  configuration: Configuration,
  task: DeliveryTask,
  ports: DeliverPorts,
): Promise<Decided | undefined> {
  const { admission, cache } = ports;
  const at = Date.now();
  let end: PermitEnd = { kind: 'unmade' };
  try {
    // The delivery may have waited for its permit.
    if (!isCurrent(configuration, cache)) return undefined;
    const result = await attempt(task, configuration, () => isCurrent(configuration, cache), ports);
    if (result.kind === 'withdrawn') return undefined;
    if (result.kind === 'throttled')
      return noAttempt(defer(admission.throttle(permit, task), decisionInputOf(task, ports)));
    const outcome = toOutcome(result);
    end = toPermitEnd(outcome);
    return {
      outcome,
      at,
      settlement: decide(outcome, decisionInputOf(task, ports, configuration.policy?.delaysMs)),
    };
  } catch (fault) {
    return afterFault(task, fault, ports);
  } finally {
    admission.release(permit, end);
  }
}

/** As `makeAttempt`, with a span when the event's trace is sampled. An attempt that was not made has none. */
function attemptOnce(
  permit: Permit,
  configuration: Configuration,
  task: DeliveryTask,
  ports: DeliverPorts,
): Promise<Decided | undefined> {
  const span = ports.startSpan(task.traceparent, () => attemptSpan(task, configuration.target.origin));
  if (span === undefined) return makeAttempt(permit, configuration, task, ports);
  const { traceparent, end } = span;
  return makeAttempt(permit, configuration, { ...task, traceparent }, ports).then((decided) => {
    if (decided === undefined) return undefined;
    end(attemptEnd(decided.settlement, decided.outcome && resultFields(decided.outcome)));
    return { ...decided, traceparent };
  });
}

/**
 * Configuration → admission → attempt → decision. Repeats these steps when the configuration changed before the
 * first byte was sent.
 */
async function decideOn(task: DeliveryTask, ports: DeliverPorts): Promise<Decided> {
  for (;;) {
    const current = await currentConfiguration(task, ports.cache);
    if (current.kind === 'cancelled') return noAttempt(current);
    if (current.kind === 'unknown') return afterFault(task, UNKNOWN_WEBHOOK, ports, 'configuration-unknown');
    const { configuration } = current;
    const last = isLast(decisionInputOf(task, ports));
    const verdict = await ports.admission.admit(task, configuration.target, last);
    if (verdict.kind === 'deferred') return noAttempt(defer(verdict, decisionInputOf(task, ports)));
    const decided = await attemptOnce(verdict, configuration, task, ports);
    if (decided) return decided;
  }
}

/**
 * Takes one delivery from its task to its settlement: first attempts, retries and redeliveries. Returns the kind of
 * settlement. Rejects when the settlement could not be published.
 */
export async function deliver(
  task: DeliveryTask,
  source: RecordOrigin,
  ports: DeliverPorts,
): Promise<Settlement['kind']> {
  const settled: Settled = { task, source, ...(await decideOn(task, ports)) };
  const span = ports.startSpan(settled.traceparent, () => settleSpan(task, settled.settlement.kind));
  const settling = settle(settled, ports);
  await (span ? endAfter(span.end, settling) : settling);
  ports.observe(settled);
  return settled.settlement.kind;
}
