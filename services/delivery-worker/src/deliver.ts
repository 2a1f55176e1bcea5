import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';
import type { Current } from './current-configuration.js';
import type { Settlement } from './decide.js';
import type { AttemptOutcome } from './outcome.js';

/** What a delivery needs of the world. */
export interface DeliverPorts {
  /** Waits for a free slot of the endpoint; the slot is given back with `leave`. */
  readonly enter: (task: DeliveryTask) => Promise<void>;
  readonly leave: (task: DeliveryTask) => void;
  /** Rejects when the picture cannot be had: then the task counts as not handled. */
  readonly current: (task: DeliveryTask) => Promise<Current>;
  /** Rejects for our own faults only: no key opens the secret, no socket is left. */
  readonly attempt: (task: DeliveryTask, configuration: Configuration) => Promise<AttemptOutcome>;
  readonly decide: (outcome: AttemptOutcome, task: DeliveryTask) => Settlement;
  /** What to do with a task whose attempt could not be made. */
  readonly park: (task: DeliveryTask, fault: unknown) => Settlement;
  /** Rejects when the worker stops before Kafka acknowledged: then the task counts as not handled. */
  readonly settle: (settled: Settled) => Promise<void>;
}

/** A task whose fate is decided. */
export interface Settled {
  readonly task: DeliveryTask;
  /** The record that was being handled. */
  readonly source: RecordOrigin;
  /** Absent when no attempt was made. */
  readonly outcome?: AttemptOutcome;
  /** Start of the attempt, or moment of the decision; Unix milliseconds. */
  readonly at: number;
  readonly settlement: Settlement;
}

/** look → attempt → decide, while the endpoint's slot is held. */
async function turn(task: DeliveryTask, source: RecordOrigin, ports: DeliverPorts): Promise<Settled> {
  const current = await ports.current(task);
  const at = Date.now();
  if (current.kind === 'ended') return { task, source, at, settlement: current.settlement };
  try {
    const outcome = await ports.attempt(task, current.configuration);
    return { task, source, outcome, at, settlement: ports.decide(outcome, task) };
  } catch (fault) {
    // Not "not handled": the neighbours of this task in the same event would be posted to again and again.
    return { task, source, at, settlement: ports.park(task, fault) };
  }
}

/** One turn of a delivery. First attempts, retries and redeliveries all come through here. */
export async function deliver(task: DeliveryTask, source: RecordOrigin, ports: DeliverPorts): Promise<void> {
  await ports.enter(task);
  let settled: Settled;
  try {
    settled = await turn(task, source, ports);
  } finally {
    ports.leave(task);
  }
  await ports.settle(settled);
}
