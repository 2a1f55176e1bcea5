import { setTimeout as delay } from 'node:timers/promises';
import type { Print } from '@webhooks/ledger';
import { NotNow } from './fault.js';
import type { End, Fault, Lane } from './fault.js';
import type { Step } from './plan/plan.js';
import type { World } from './world/world.js';

/** A step that was done, or why it was not. Times are Unix milliseconds. */
export interface DoneStep {
  readonly lane: Lane;
  readonly fault: string;
  readonly target: string;
  readonly startedAt: number;
  /** When the fault was taken back: what was hit may begin to come up. */
  readonly takenBackAt: number;
  /** When what was hit was up again. */
  readonly endedAt: number;
  /** `failed`: what was hit did not come back, or could not be hit for a reason that nobody planned. */
  readonly outcome: 'done' | 'passed-over' | 'failed';
  readonly why?: string;
}

export interface PlanRun {
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  readonly world: World;
  /** How many events have been accepted so far. */
  readonly countAccepted: () => number;
  /** `performance.now()` at which the plan began, and after which no further step does. */
  readonly startedAt: number;
  readonly until: number;
  /** Ends the run early, in order: what was broken is mended. */
  readonly stopping: AbortSignal;
  readonly print: Print;
}

const LOOK_MS = 50;

/** Waits so long, or until the run is stopped. */
async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  if (ms <= 0 || stopping.aborted) return;
  await delay(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

/** A step that is over as far as its lane goes; `mended` when what was hit is up again. */
interface Broken {
  readonly mended: Promise<DoneStep>;
  /** Its lane waits for that. */
  readonly alone: boolean;
}

type About = Pick<DoneStep, 'lane' | 'fault' | 'target' | 'startedAt'>;

const said = (done: DoneStep, print: Print): DoneStep => {
  const seconds = ((done.endedAt - done.startedAt) / 1_000).toFixed(1);
  const how = done.outcome === 'done' ? `up again after ${seconds} s` : `${done.outcome}: ${done.why ?? ''}`;
  print(`  ${done.fault} ${done.target}: ${how}`);
  return done;
};

function faulty(about: About, error: unknown): DoneStep {
  const why = error instanceof Error ? error.message : String(error);
  const now = Date.now();
  const outcome = error instanceof NotNow ? 'passed-over' : 'failed';
  return { ...about, takenBackAt: now, endedAt: now, outcome, why };
}

async function mend(about: About, end: End, print: Print): Promise<DoneStep> {
  const takenBackAt = Date.now();
  try {
    await end();
    return said({ ...about, takenBackAt, endedAt: Date.now(), outcome: 'done' }, print);
  } catch (error) {
    return said(faulty(about, error), print);
  }
}

const isOn = ({ stopping, until }: PlanRun): boolean => !stopping.aborted && performance.now() < until;

/** Begins a fault; a patient step asks again while there is nothing to hit. */
async function begin(fault: Fault, { target, afterEvents }: Step, run: PlanRun): Promise<End> {
  for (;;)
    try {
      return await fault.begin(target, run.world);
    } catch (error) {
      if (afterEvents === undefined || !(error instanceof NotNow) || !isOn(run)) throw error;
      await wait(LOOK_MS, run.stopping);
    }
}

async function breakOne(step: Step, run: PlanRun): Promise<Broken> {
  const { lane, fault: name, target, lastsMs } = step;
  const about = { lane, fault: name, target, startedAt: Date.now() };
  try {
    const fault = run.faults.find((candidate) => candidate.name === name);
    if (!fault) throw new Error('there is no such fault');
    const end = await begin(fault, step, run);
    await wait(lastsMs, run.stopping);
    return { mended: mend(about, end, run.print), alone: fault.alone === true };
  } catch (error) {
    return { mended: Promise.resolve(said(faulty(about, error), run.print)), alone: false };
  }
}

/** Waits for the step's time and, when it is a patient one, for what came before it in its lane and for its events. */
async function untilTurn(step: Step, before: readonly Promise<DoneStep>[], run: PlanRun): Promise<void> {
  await wait(run.startedAt + step.atMs - performance.now(), run.stopping);
  if (step.afterEvents === undefined) return;
  await Promise.all(before);
  const enough = run.countAccepted() + step.afterEvents;
  while (run.countAccepted() < enough && isOn(run)) await wait(LOOK_MS, run.stopping);
}

async function runLane(lane: Lane, run: PlanRun): Promise<readonly DoneStep[]> {
  const mending: Promise<DoneStep>[] = [];
  for (const step of run.steps.filter((candidate) => candidate.lane === lane)) {
    await untilTurn(step, mending, run);
    if (!isOn(run)) break;
    const { mended, alone } = await breakOne(step, run);
    mending.push(mended);
    if (alone) await mended;
  }
  return Promise.all(mending);
}

/**
 * Does the steps of both lanes, each lane in order. What comes back slowly does not hold its lane up, unless its fault is
 * to be alone; a step that is late for that is done at once, and what has not begun when the time is over is left out.
 */
export async function runPlan(run: PlanRun): Promise<readonly DoneStep[]> {
  const lanes = await Promise.all([runLane('system', run), runLane('receivers', run)]);
  return lanes.flat().sort((a, b) => a.startedAt - b.startedAt);
}
