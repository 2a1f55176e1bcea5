import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';
import type { Current } from './current-configuration.js';
import type { Settlement } from './decide.js';
import type { Gate, Later, Pass, PassEnd } from './gate/gate-types.js';
import { failureOf } from './outcome.js';
import type { AttemptOutcome } from './outcome.js';

/** What a delivery needs of the world. */
export interface DeliverPorts {
  readonly gate: Pick<Gate, 'enter' | 'leave'>;
  /** Rejects when the picture cannot be had: then the task counts as not handled. */
  readonly current: (task: DeliveryTask) => Current | Promise<Current>;
  /** Rejects for our own faults only: no key opens the secret, no socket is left. */
  readonly attempt: (task: DeliveryTask, configuration: Configuration) => Promise<AttemptOutcome>;
  readonly decide: (outcome: AttemptOutcome, task: DeliveryTask) => Settlement;
  /** Whether the next attempt is the last that the delivery's age allows. */
  readonly isLast: (task: DeliveryTask) => boolean;
  /** When a task comes back that the gate does not let pass now. */
  readonly parkFor: (later: Later, task: DeliveryTask) => Settlement;
  /** What to do with a task whose attempt could not be made by our own fault. */
  readonly parkAfterFault: (task: DeliveryTask, fault: unknown) => Settlement;
  /** Rejects when the worker stops before Kafka acknowledged: then the task counts as not handled. */
  readonly settle: (settled: Settled) => Promise<void>;
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

const unmade = (settlement: Settlement): Turn => ({ outcome: undefined, at: Date.now(), settlement });

const UNMADE: PassEnd = { kind: 'unmade' };

const endOf = (outcome: AttemptOutcome): PassEnd =>
  outcome.kind === 'accepted'
    ? { kind: 'succeeded', durationMs: outcome.durationMs }
    : { kind: 'failed', durationMs: outcome.durationMs, label: failureOf(outcome) };

/** attempt → decide, with the pass that is given back however it ends. */
async function attemptWith(
  pass: Pass,
  task: DeliveryTask,
  configuration: Configuration,
  ports: DeliverPorts,
): Promise<Turn> {
  const at = Date.now();
  let end = UNMADE;
  try {
    const outcome = await ports.attempt(task, configuration);
    end = endOf(outcome);
    return { outcome, at, settlement: ports.decide(outcome, task) };
  } catch (fault) {
    // Not "not handled": the neighbours of this task in the same event would be posted to again and again.
    return { outcome: undefined, at, settlement: ports.parkAfterFault(task, fault) };
  } finally {
    ports.gate.leave(pass, end);
  }
}

/** For a task that waited for its slot: the configuration may have changed meanwhile. */
async function attemptAfresh(pass: Pass, task: DeliveryTask, ports: DeliverPorts): Promise<Turn> {
  let current: Current;
  try {
    current = await ports.current(task);
  } catch (error) {
    ports.gate.leave(pass, UNMADE);
    throw error;
  }
  if (current.kind === 'active') return attemptWith(pass, task, current.configuration, ports);
  ports.gate.leave(pass, UNMADE);
  return unmade(current.settlement);
}

/** look → gate → attempt → decide. Nothing is awaited between the last look at the configuration and the attempt. */
async function turn(task: DeliveryTask, ports: DeliverPorts): Promise<Turn> {
  const found = ports.current(task);
  const current = found instanceof Promise ? await found : found;
  if (current.kind === 'ended') return unmade(current.settlement);
  const { configuration } = current;
  const given = ports.gate.enter(task, configuration.target, ports.isLast(task));
  const verdict = given instanceof Promise ? await given : given;
  if (verdict.kind === 'later') return unmade(ports.parkFor(verdict, task));
  return given instanceof Promise
    ? attemptAfresh(verdict, task, ports)
    : attemptWith(verdict, task, configuration, ports);
}

/** One turn of a delivery. First attempts, retries and redeliveries all come through here. Resolves when it is settled. */
export async function deliver(
  task: DeliveryTask,
  source: RecordOrigin,
  ports: DeliverPorts,
): Promise<Settlement['kind']> {
  const { outcome, at, settlement } = await turn(task, ports);
  await ports.settle({ task, source, outcome, at, settlement });
  return settlement.kind;
}
