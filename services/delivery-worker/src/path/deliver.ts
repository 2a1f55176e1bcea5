import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { Admission } from '../admission/admission.js';
import type { Permit, PermitEnd } from '../admission/endpoint-state.js';
import type { ConfigurationCache } from '../configurations/configuration-cache.js';
import type { Configuration } from '../configurations/configuration.js';
import { currentConfiguration, isCurrent } from '../configurations/current-configuration.js';
import { attempt, failureOf, toOutcome } from './attempt.js';
import type { AttemptOptions, AttemptOutcome } from './attempt.js';
import { decide, defer, deferAfterFault, isLast } from './decide.js';
import type { DeadReason, Decision, RetrySchedule, Settlement } from './decide.js';
import { settle } from './settle.js';
import type { SettlePorts, Settled } from './settle.js';

/** What a delivery needs of the world. */
export interface DeliverPorts extends AttemptOptions, SettlePorts {
  readonly cache: ConfigurationCache;
  readonly admission: Pick<Admission, 'admit' | 'release' | 'throttle'>;
  readonly schedule: RetrySchedule;
  /** Logs why an attempt could not be made. Must not throw. */
  readonly onFault: (task: DeliveryTask, fault: unknown) => void;
  /** Counts and logs what is settled. Must not throw: the task would be attempted again. */
  readonly observe: (settled: Settled) => void;
}

type Decided = Omit<Settled, 'task' | 'source'>;

const unmade = (settlement: Settlement): Decided => ({ outcome: undefined, at: Date.now(), settlement });

const UNKNOWN = new Error('webhooks.configurations does not hold this webhook');

const endOf = (outcome: AttemptOutcome): PermitEnd =>
  outcome.kind === 'accepted'
    ? { kind: 'succeeded', durationMs: outcome.durationMs }
    : { kind: 'failed', label: failureOf(outcome) };

/** What the rules look at. `delaysMs`: the endpoint's own retry delays; default: the worker's. */
const decisionOf = (
  { firstDueAt, attempt }: DeliveryTask,
  { schedule }: DeliverPorts,
  delaysMs = schedule.delaysMs,
): Decision => ({
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
  return unmade(deferAfterFault(task.deferralCount, decisionOf(task, ports), deadReason));
}

/**
 * Makes the attempt and decides on its outcome. Undefined when the configuration changed before there was a connection.
 * A throw is our own fault and defers the task: "not handled" would post its neighbours again.
 */
async function attemptOnce(
  permit: Permit,
  configuration: Configuration,
  task: DeliveryTask,
  ports: DeliverPorts,
): Promise<Decided | undefined> {
  const { admission, cache } = ports;
  const at = Date.now();
  let end: PermitEnd = { kind: 'unmade' };
  try {
    const result = await attempt(task, configuration, () => isCurrent(configuration, cache), ports);
    if (result.kind === 'withdrawn') return undefined;
    if (result.kind === 'throttled')
      return unmade(defer(admission.throttle(permit, task), decisionOf(task, ports)));
    const outcome = toOutcome(result);
    end = endOf(outcome);
    return {
      outcome,
      at,
      settlement: decide(outcome, decisionOf(task, ports, configuration.terms?.delaysMs)),
    };
  } catch (fault) {
    return afterFault(task, fault, ports);
  } finally {
    admission.release(permit, end);
  }
}

/** Configuration → admission → attempt → decision. Starts again when the configuration changed before the first byte. */
async function decideOn(task: DeliveryTask, ports: DeliverPorts): Promise<Decided> {
  for (;;) {
    const current = await currentConfiguration(task, ports.cache);
    if (current.kind === 'cancelled') return unmade(current);
    if (current.kind === 'unknown') return afterFault(task, UNKNOWN, ports, 'configuration-unknown');
    const { configuration } = current;
    const last = isLast(decisionOf(task, ports));
    const verdict = await ports.admission.admit(task, configuration.target, last);
    if (verdict.kind === 'deferred') return unmade(defer(verdict, decisionOf(task, ports)));
    const decided = await attemptOnce(verdict, configuration, task, ports);
    if (decided) return decided;
  }
}

/** Takes one delivery from its task to its settlement: first attempts, retries and redeliveries. Rejects when it is not handled. */
export async function deliver(
  task: DeliveryTask,
  source: RecordOrigin,
  ports: DeliverPorts,
): Promise<Settlement['kind']> {
  const settled = { task, source, ...(await decideOn(task, ports)) };
  await settle(settled, ports);
  ports.observe(settled);
  return settled.settlement.kind;
}
