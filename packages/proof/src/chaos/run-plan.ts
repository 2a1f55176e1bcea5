import { setTimeout as delay } from 'node:timers/promises';
import type { Print } from '@webhooks/testkit/account';
import { LANES, NotNow } from './fault.js';
import type { End, Fault, Lane } from './fault.js';
import type { Step } from './plan.js';
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
  /** `performance.now()` at which the plan began, and after which no further step does. */
  readonly startedAt: number;
  readonly until: number;
  /** Ends the run early, in order: what was broken is mended. */
  readonly stopping: AbortSignal;
  readonly print: Print;
}

/** Waits so long, or until it is stopped. */
export async function waitOrStop(ms: number, stopping: AbortSignal): Promise<void> {
  if (ms <= 0 || stopping.aborted) return;
  await delay(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

type About = Pick<DoneStep, 'lane' | 'fault' | 'target' | 'startedAt'>;

/** Waits until what was hit is up again, and says how it ended. */
async function settle(about: About, mending: Promise<void>, print: Print): Promise<DoneStep> {
  const takenBackAt = Date.now();
  let end: Pick<DoneStep, 'outcome' | 'why'> = { outcome: 'done' };
  try {
    await mending;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    end = { outcome: error instanceof NotNow ? 'passed-over' : 'failed', why };
  }
  const endedAt = Date.now();
  const seconds = ((endedAt - about.startedAt) / 1_000).toFixed(1);
  const how = end.why === undefined ? `up again after ${seconds} s` : `${end.outcome}: ${end.why}`;
  print(`  ${about.fault} ${about.target}: ${how}`);
  return { ...about, takenBackAt, endedAt, ...end };
}

async function begin({ fault: name, target }: Step, { faults, world }: PlanRun): Promise<End> {
  const fault = faults.find((candidate) => candidate.name === name);
  if (!fault) throw new Error('there is no such fault');
  return fault.begin(target, world);
}

/** Breaks something and takes it back; what comes of it is still to be awaited. */
async function breakOne(step: Step, run: PlanRun): Promise<{ readonly settled: Promise<DoneStep> }> {
  const { lane, fault, target, lastsMs } = step;
  const about = { lane, fault, target, startedAt: Date.now() };
  const beginning = begin(step, run);
  const hasBegun = await beginning.then(
    () => true,
    () => false,
  );
  if (hasBegun) await waitOrStop(lastsMs, run.stopping);
  const mending = beginning.then((end) => end());
  return { settled: settle(about, mending, run.print) };
}

async function runLane(lane: Lane, run: PlanRun): Promise<readonly DoneStep[]> {
  const settled: Promise<DoneStep>[] = [];
  for (const step of run.steps.filter((candidate) => candidate.lane === lane)) {
    await waitOrStop(run.startedAt + step.atMs - performance.now(), run.stopping);
    if (run.stopping.aborted || performance.now() >= run.until) break;
    settled.push((await breakOne(step, run)).settled);
  }
  return Promise.all(settled);
}

/**
 * Does the steps of all lanes, each lane in order. What comes back slowly does not hold its lane up; a step that is late is
 * done at once, and what has not begun when the time is over is left out.
 */
export async function runPlan(run: PlanRun): Promise<readonly DoneStep[]> {
  const lanes = await Promise.all(LANES.map((lane) => runLane(lane, run)));
  return lanes.flat().sort((a, b) => a.startedAt - b.startedAt);
}
