import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import type { Print } from '@webhooks/testkit/account';
import type { World } from './world/world.js';

/** A fault of a track is taken back before the next one begins; what it hit may still be starting. The tracks run side by side. */
const TRACKS = ['system', 'receivers', 'topics'] as const;
type Track = (typeof TRACKS)[number];

/** Takes a fault back; resolves when what was hit is up again, and rejects when it does not come back. */
export type End = () => Promise<void> | void;

/** One way to break something. */
export interface Fault {
  /** As in `--faults`. */
  readonly name: string;
  readonly track: Track;
  /** How many of its track's draws it gets, against the weights of the others. */
  readonly weight: number;
  /** What it can hit, by names that `begin` knows. */
  readonly targets: readonly [string, ...string[]];
  /** Shortest and longest time until it is taken back, in milliseconds; a short run cuts the longest. */
  readonly lasts: readonly [least: number, most: number];
  /** Does it. Throws `NotNow` when there is nothing to hit at the moment. */
  begin(target: string, world: World): Promise<End> | End;
}

/** There was nothing to hit, such as a process that is just being started: the step is passed over, and reported. */
export class NotNow extends Error {}

/** One fault at one moment. Times are milliseconds from the start of the run. */
export interface Step {
  readonly track: Track;
  readonly fault: string;
  readonly target: string;
  readonly atMs: number;
  readonly lastsMs: number;
}

/** What the plan looks at of a fault. */
export type PlannedFault = Omit<Fault, 'begin'>;

interface PlanInput {
  readonly seed: number;
  readonly durationMs: number;
  readonly faults: readonly PlannedFault[];
}

const FIRST_MS = 3_000;
const MIN_GAP_MS = 1_500;
const MAX_GAP_MS = 5_000;
/** A fault takes a tenth of the run at most, so that a short one sees several; but this much is always allowed. */
const SHARE = 0.1;
const ALWAYS_ALLOWED_MS = 3_000;

/** Draws without putting back, so that every fault has its turn before one comes again more often than its weight. */
function* draws(faults: readonly PlannedFault[], random: Random): Generator<PlannedFault, undefined> {
  const all = faults.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  while (all.length > 0) {
    const bag = [...all];
    while (bag.length > 0) yield* bag.splice(random.int(0, bag.length - 1), 1);
  }
}

function lengthOf({ lasts: [least, most] }: PlannedFault, durationMs: number, random: Random): number {
  const longest = Math.max(least, Math.min(most, Math.max(ALWAYS_ALLOWED_MS, SHARE * durationMs)));
  return random.int(least, Math.floor(longest));
}

function planTrack(track: Track, { seed, durationMs, faults }: PlanInput): readonly Step[] {
  // Each track has a sequence of its own: leaving the faults of one out changes nothing in the others.
  const random = createRandom({ system: seed, receivers: ~seed, topics: -seed }[track]);
  const own = faults.filter((fault) => fault.track === track);
  const steps: Step[] = [];
  let atMs = FIRST_MS;
  for (const fault of draws(own, random)) {
    if (atMs >= durationMs) break;
    const lastsMs = Math.min(lengthOf(fault, durationMs, random), durationMs - atMs);
    steps.push({ track, fault: fault.name, target: random.pick(fault.targets), atMs, lastsMs });
    atMs += lastsMs + random.int(MIN_GAP_MS, MAX_GAP_MS);
  }
  return steps;
}

/**
 * What happens when, as a pure function: the same seed, length and faults give the same plan on every machine. Steps of
 * one track come one after the other; nothing begins or lasts beyond the run.
 */
export function makePlan(input: PlanInput): readonly Step[] {
  return TRACKS.flatMap((track) => planTrack(track, input)).sort((a, b) => a.atMs - b.atMs);
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** The plan as it is printed before it starts: a line for each step. */
export const formatPlan = (steps: readonly Step[]): readonly string[] =>
  steps.map(
    ({ atMs, lastsMs, fault, target }) =>
      `${seconds(atMs).padStart(7)} s  ${fault} ${target}${lastsMs > 0 ? ` for ${seconds(lastsMs)} s` : ''}`,
  );

/** A step that was done, or why it was not. Times are Unix milliseconds. */
export interface DoneStep extends Pick<Step, 'track' | 'fault' | 'target'> {
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
  if (ms > 0) await delay(ms, undefined, { signal: stopping }).catch(() => undefined);
}

async function begin({ fault: name, target }: Step, { faults, world }: PlanRun): Promise<End> {
  const fault = faults.find((candidate) => candidate.name === name);
  if (!fault) throw new Error('there is no such fault');
  return fault.begin(target, world);
}

/** Takes a fault back, waits until what was hit is up again, and says how it ended. */
export async function settle(step: Step, startedAt: number, mending: Promise<void>, print: Print) {
  const takenBackAt = Date.now();
  let end: Pick<DoneStep, 'outcome' | 'why'> = { outcome: 'done' };
  try {
    await mending;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    end = { outcome: error instanceof NotNow ? 'passed-over' : 'failed', why };
  }
  const endedAt = Date.now();
  const upAgain = `up again after ${seconds(endedAt - startedAt)} s`;
  const how = end.why === undefined ? upAgain : `${end.outcome}: ${end.why}`;
  print(`  ${step.fault} ${step.target}: ${how}`);
  const { track, fault, target } = step;
  return { track, fault, target, startedAt, takenBackAt, endedAt, ...end };
}

async function runTrack(track: Track, run: PlanRun): Promise<readonly DoneStep[]> {
  const settled: Promise<DoneStep>[] = [];
  for (const step of run.steps.filter((candidate) => candidate.track === track)) {
    await waitOrStop(run.startedAt + step.atMs - performance.now(), run.stopping);
    if (run.stopping.aborted || performance.now() >= run.until) break;
    const startedAt = Date.now();
    const beginning = begin(step, run);
    const lasting = beginning.then(() => waitOrStop(step.lastsMs, run.stopping));
    // What could not begin is not waited for.
    await lasting.catch(() => undefined);
    const mending = beginning.then((end) => end());
    settled.push(settle(step, startedAt, mending, run.print));
  }
  return Promise.all(settled);
}

/**
 * Does the steps of all tracks, each track in order. A process that starts slowly does not delay its track. A late step begins at
 * once; a step that has not begun when the time is over is left out.
 */
export async function runPlan(run: PlanRun): Promise<readonly DoneStep[]> {
  const tracks = await Promise.all(TRACKS.map((track) => runTrack(track, run)));
  return tracks.flat().sort((a, b) => a.startedAt - b.startedAt);
}
