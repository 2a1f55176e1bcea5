import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { SendResult } from '@webhooks/outbound';
import type { Configuration } from './configuration.js';
import type { Current } from './current-configuration.js';
import type { Settlement } from './decide.js';
import type { Gate, Later, Pass, PassEnd, Verdict } from './gate/gate-types.js';
import { failureOf, toOutcome } from './outcome.js';
import type { AttemptOutcome } from './outcome.js';

/** What a delivery needs of the world. */
export interface DeliverPorts {
  readonly gate: Pick<Gate, 'enter' | 'leave'>;
  /** Never throws; rejects when the picture cannot be had: then the task counts as not handled. */
  readonly current: (task: DeliveryTask) => Current | Promise<Current>;
  /** Rejects or throws for our own faults only: no key opens the secret, no socket is left. */
  readonly attempt: (task: DeliveryTask, configuration: Configuration) => Promise<SendResult>;
  readonly decide: (outcome: AttemptOutcome, task: DeliveryTask) => Settlement;
  /** Whether the next attempt is the last that the delivery's age allows. */
  readonly isLast: (task: DeliveryTask) => boolean;
  /** When a task comes back that the gate does not let pass now. */
  readonly parkFor: (later: Later, task: DeliveryTask) => Settlement;
  /** What to do with a task whose attempt could not be made by our own fault. */
  readonly parkAfterFault: (task: DeliveryTask, fault: unknown) => Settlement;
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

type Turn = Omit<Settled, 'task' | 'source'>;

/** All that one attempt needs, to be made now. */
interface Ready {
  readonly pass: Pass;
  readonly configuration: Configuration;
}

type Admission = Ready | Turn;

const unmade = (settlement: Settlement): Turn => ({ outcome: undefined, at: Date.now(), settlement });

const UNMADE: PassEnd = { kind: 'unmade' };

const endOf = (outcome: AttemptOutcome): PassEnd =>
  outcome.kind === 'accepted'
    ? { kind: 'succeeded', durationMs: outcome.durationMs }
    : { kind: 'failed', durationMs: outcome.durationMs, label: failureOf(outcome) };

/** The gate: now or later; or a promise, while it waits for a slot. */
function admit(task: DeliveryTask, current: Current, ports: DeliverPorts): Admission | Promise<Verdict> {
  if (current.kind === 'ended') return unmade(current.settlement);
  const { configuration } = current;
  const verdict = ports.gate.enter(task, configuration.target, ports.isLast(task));
  if (verdict instanceof Promise) return verdict;
  return verdict.kind === 'later' ? unmade(ports.parkFor(verdict, task)) : { pass: verdict, configuration };
}

function useOrLeave(pass: Pass, current: Current, ports: DeliverPorts): Admission {
  if (current.kind === 'active') return { pass, configuration: current.configuration };
  ports.gate.leave(pass, UNMADE);
  return unmade(current.settlement);
}

/** For a task that waited for its slot: the configuration may have changed meanwhile. */
function admitAfterWait(
  task: DeliveryTask,
  verdict: Verdict,
  ports: DeliverPorts,
): Admission | Promise<Admission> {
  if (verdict.kind === 'later') return unmade(ports.parkFor(verdict, task));
  const found = ports.current(task);
  return found instanceof Promise ? awaitCurrent(verdict, found, ports) : useOrLeave(verdict, found, ports);
}

async function awaitCurrent(pass: Pass, current: Promise<Current>, ports: DeliverPorts): Promise<Admission> {
  try {
    return useOrLeave(pass, await current, ports);
  } catch (error) {
    ports.gate.leave(pass, UNMADE);
    throw error;
  }
}

/**
 * One turn of a delivery: look → gate → attempt → decide → settle. First attempts, retries and redeliveries all come through
 * here. Resolves when it is settled. Between the last look at the configuration and the attempt lies no I/O and no timer; the
 * attempt itself may wait for a connection.
 *
 * One async function on purpose, with a promise only where something is waited for: what a delivery holds lives until Kafka
 * has acknowledged, long enough for the collector to move it, so each promise and each frame less is less to move.
 */
export async function deliver(
  task: DeliveryTask,
  source: RecordOrigin,
  ports: DeliverPorts,
): Promise<Settlement['kind']> {
  const found = ports.current(task);
  const entered = admit(task, found instanceof Promise ? await found : found, ports);
  const admitted = entered instanceof Promise ? admitAfterWait(task, await entered, ports) : entered;
  const admission = admitted instanceof Promise ? await admitted : admitted;
  const at = Date.now();
  let turn: Turn;
  if ('pass' in admission) {
    let end = UNMADE;
    try {
      const outcome = toOutcome(await ports.attempt(task, admission.configuration));
      end = endOf(outcome);
      turn = { outcome, at, settlement: ports.decide(outcome, task) };
    } catch (fault) {
      // Not "not handled": the neighbours of this task in the same event would be posted to again and again.
      turn = { outcome: undefined, at, settlement: ports.parkAfterFault(task, fault) };
    } finally {
      ports.gate.leave(admission.pass, end);
    }
  } else turn = admission;
  const { outcome, settlement } = turn;
  const settled = { task, source, outcome, at: turn.at, settlement };
  await ports.settle(settled);
  ports.observe(settled);
  return settlement.kind;
}
