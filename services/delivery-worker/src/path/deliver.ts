import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { SendResult } from '@webhooks/outbound';
import type { Admission } from '../admission/admission.js';
import type { Deferred, Permit, PermitEnd } from '../admission/endpoint-state.js';
import type { Configuration } from '../configurations/configuration.js';
import type { Current } from '../configurations/current-configuration.js';
import type { DeadReason, Settlement } from './decide.js';
import { failureOf, toOutcome } from './outcome.js';
import type { AttemptOutcome } from './outcome.js';

/** What a delivery needs of the world. */
export interface DeliverPorts {
  readonly admission: Pick<Admission, 'admit' | 'release' | 'throttle'>;
  /** Reads the configuration; rejects when it cannot be had: then the task counts as not handled. */
  readonly look: (task: DeliveryTask) => Current | Promise<Current>;
  /** Rejects or throws for our own faults only: no key opens the secret, no socket is left. */
  readonly attempt: (
    task: DeliveryTask,
    configuration: Configuration,
    mayStart: () => boolean,
  ) => Promise<SendResult>;
  /** Whether this is the configuration in force. Asked right before the first byte, or before a post goes to the thread of costly tenants. */
  readonly isCurrent: (configuration: Configuration) => boolean;
  readonly decide: (outcome: AttemptOutcome, task: DeliveryTask, configuration: Configuration) => Settlement;
  /** Whether the next attempt is the last that the delivery's age allows. */
  readonly isLast: (task: DeliveryTask) => boolean;
  /** When a task is due that admission defers. */
  readonly defer: (deferred: Deferred, task: DeliveryTask) => Settlement;
  /** What to do with a task whose attempt could not be made by our own fault; `deadReason`: if it never can be. */
  readonly deferAfterFault: (task: DeliveryTask, fault: unknown, deadReason?: DeadReason) => Settlement;
  /** Rejects when the worker stops before Kafka acknowledged: then the task counts as not handled. */
  readonly settle: (settled: Settled) => Promise<unknown>;
  /** Counts and logs what is settled. Must not throw: it would be attempted again. */
  readonly observe: (settled: Settled) => void;
}

/** A task whose fate is decided. */
export interface Settled {
  readonly task: DeliveryTask;
  /** The record that was being handled. */
  readonly source: RecordOrigin;
  /** Undefined when no attempt was made. */
  readonly outcome: AttemptOutcome | undefined;
  /** Start of the attempt, or moment of the decision; Unix milliseconds. */
  readonly at: number;
  readonly settlement: Settlement;
}

type Decided = Omit<Settled, 'task' | 'source'>;

const unmade = (settlement: Settlement): Decided => ({ outcome: undefined, at: Date.now(), settlement });

const UNKNOWN = new Error('webhooks.configurations does not hold this webhook');

const endOf = (outcome: AttemptOutcome): PermitEnd =>
  outcome.kind === 'accepted'
    ? { kind: 'succeeded', durationMs: outcome.durationMs }
    : { kind: 'failed', label: failureOf(outcome) };

/**
 * The attempt, and what follows from it; undefined when the configuration had changed by the time there was a connection.
 * A throw is our own fault, and is a decision too: "not handled" would post its neighbours again.
 */
async function attempt(
  permit: Permit,
  configuration: Configuration,
  task: DeliveryTask,
  ports: DeliverPorts,
): Promise<Decided | undefined> {
  const at = Date.now();
  let end: PermitEnd = { kind: 'unmade' };
  try {
    const result = await ports.attempt(task, configuration, () => ports.isCurrent(configuration));
    if (result.kind === 'withdrawn') return undefined;
    if (result.kind === 'throttled') return unmade(ports.defer(ports.admission.throttle(permit, task), task));
    const outcome = toOutcome(result);
    end = endOf(outcome);
    return { outcome, at, settlement: ports.decide(outcome, task, configuration) };
  } catch (fault) {
    return { outcome: undefined, at, settlement: ports.deferAfterFault(task, fault) };
  } finally {
    ports.admission.release(permit, end);
  }
}

/** Look → admit → attempt → decide; anew when the configuration changed before the first byte. */
async function decideOn(task: DeliveryTask, ports: DeliverPorts): Promise<Decided> {
  for (;;) {
    const current = await ports.look(task);
    if (current.kind === 'ended') return unmade(current.settlement);
    if (current.kind === 'unknown')
      return unmade(ports.deferAfterFault(task, UNKNOWN, 'configuration-unknown'));
    const { configuration } = current;
    const verdict = await ports.admission.admit(task, configuration.target, ports.isLast(task));
    if (verdict.kind === 'deferred') return unmade(ports.defer(verdict, task));
    const decided = await attempt(verdict, configuration, task, ports);
    if (decided) return decided;
  }
}

/** One delivery, from its task to its settlement: first attempts, retries and redeliveries all come through here. */
export async function deliver(
  task: DeliveryTask,
  source: RecordOrigin,
  ports: DeliverPorts,
): Promise<Settlement['kind']> {
  const settled = { task, source, ...(await decideOn(task, ports)) };
  await ports.settle(settled);
  ports.observe(settled);
  return settled.settlement.kind;
}
