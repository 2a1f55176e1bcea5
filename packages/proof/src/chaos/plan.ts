import { createRandom } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import { LANES } from './fault.js';
import type { Fault, Lane } from './fault.js';

/** One fault at one moment. Times are milliseconds from the start of the run. */
export interface Step {
  readonly lane: Lane;
  readonly fault: string;
  readonly target: string;
  readonly atMs: number;
  readonly lastsMs: number;
}

export interface PlanInput {
  readonly seed: number;
  readonly durationMs: number;
  readonly faults: readonly PlannedFault[];
}

/** What the plan looks at of a fault. */
export type PlannedFault = Pick<Fault, 'name' | 'lane' | 'weight' | 'targets' | 'lasts'>;

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

function planLane(lane: Lane, { seed, durationMs, faults }: PlanInput): readonly Step[] {
  // Each lane has a sequence of its own: leaving the faults of one out changes nothing in the others.
  const random = createRandom({ system: seed, receivers: ~seed, topics: -seed }[lane]);
  const own = faults.filter((fault) => fault.lane === lane);
  const steps: Step[] = [];
  let atMs = FIRST_MS;
  for (const fault of draws(own, random)) {
    if (atMs >= durationMs) break;
    const lastsMs = Math.min(lengthOf(fault, durationMs, random), durationMs - atMs);
    steps.push({ lane, fault: fault.name, target: random.pick(fault.targets), atMs, lastsMs });
    atMs += lastsMs + random.int(MIN_GAP_MS, MAX_GAP_MS);
  }
  return steps;
}

/**
 * What happens when, as a pure function: the same seed, length and faults give the same plan on every machine. Steps of
 * one lane come one after the other; nothing begins or lasts beyond the run.
 */
export function makePlan(input: PlanInput): readonly Step[] {
  return LANES.flatMap((lane) => planLane(lane, input)).sort((a, b) => a.atMs - b.atMs);
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** The plan as it is printed before it starts: a line for each step. */
export const formatPlan = (steps: readonly Step[]): readonly string[] =>
  steps.map(
    ({ atMs, lastsMs, fault, target }) =>
      `${seconds(atMs).padStart(7)} s  ${fault} ${target}${lastsMs > 0 ? ` for ${seconds(lastsMs)} s` : ''}`,
  );
