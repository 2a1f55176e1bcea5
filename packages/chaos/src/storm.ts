import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, describeVersions } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';
import type { Fault } from './fault.js';
import { formatPlan } from './plan/format-plan.js';
import { makePlan } from './plan/plan.js';
import type { ChaosArguments } from './read-arguments.js';
import { countFaults, countKills, formatReport } from './report/report.js';
import { runChaos } from './run-chaos.js';
import type { ChaosResult } from './run-chaos.js';
import { WORKER_SETTINGS } from './world/settings.js';

export interface StormOptions {
  readonly given: ChaosArguments;
  readonly all: readonly Fault[];
  /** Where results are written, and the data of a run while it lasts. */
  readonly dataDir: string;
  /** Name of the file with the result, in `dataDir`. */
  readonly resultFile: string;
  readonly stopping: AbortSignal;
  readonly print: Print;
}

export interface StormRun {
  readonly seed: number;
  readonly passed: boolean;
  readonly result: ChaosResult;
}

function writeResult(file: string, given: ChaosArguments, result: ChaosResult): void {
  const { steps, recoveryMs, verdict } = result;
  const about = {
    at: new Date().toISOString(),
    machine: describeMachine(),
    versions: describeVersions(),
    settings: { ...given, worker: WORKER_SETTINGS },
  };
  const figures = {
    kills: countKills(result.killed),
    faults: countFaults(steps),
    recoveryMs,
    ...verdict,
    steps,
  };
  writeFileSync(file, `${JSON.stringify({ ...about, ...figures }, null, 2)}\n`);
}

/** The options with which a run is made again. */
export const optionsOf = ({ seed, minutes, faults, eventsPerSecond }: ChaosArguments): string =>
  [
    `--seed ${seed} --minutes ${minutes} --rate ${eventsPerSecond}`,
    ...(faults.length > 0 ? [`--faults ${faults.join(',')}`] : []),
  ].join(' ');

/** The faults that are wanted; all when none is named. */
const choose = ({ faults }: ChaosArguments, all: readonly Fault[]): readonly Fault[] =>
  faults.length === 0 ? all : all.filter(({ name }) => faults.includes(name));

/** Says what the run did not do; false when a run of all faults has not tested what it tried. */
function sayUntested({ given, print }: StormOptions, { leftOut, untested }: ChaosResult): boolean {
  if (leftOut.length > 0) print(`left out: ${leftOut.join(', ')}`);
  // Whoever names faults wants these, and looks at them.
  const missing = given.faults.length === 0 ? untested : [];
  for (const what of missing) print(`not tested: ${what}`);
  return missing.length === 0;
}

/** One run with one seed, from its plan to what it found. What did not pass is kept; one that was ended early has not passed. */
export async function storm(options: StormOptions): Promise<StormRun> {
  const { given, print, stopping } = options;
  const { seed, minutes, eventsPerSecond } = given;
  const faults = choose(given, options.all);
  const durationMs = 60_000 * minutes;
  const steps = makePlan({ seed, durationMs, faults });
  print(`· the plan of ${optionsOf(given)}: ${steps.length} faults`);
  for (const line of formatPlan(steps)) print(line);
  const dataDir = join(options.dataDir, `chaos-${process.pid}-${seed}`);
  mkdirSync(dataDir, { recursive: true });
  const asked = { seed, steps, faults, durationMs, eventsPerSecond, dataDir, stopping, print };
  const result = await runChaos(asked);
  for (const line of formatReport(result)) print(line);
  const { findings, totals } = result.verdict;
  const isBalanced = findings.length === 0 && totals.accepted > 0;
  const hasTested = sayUntested(options, result);
  const isOver = isBalanced && hasTested;
  if (isOver) rmSync(dataDir, { recursive: true, force: true });
  const kept = isOver ? '' : `; everything else is kept in ${dataDir}`;
  const file = join(options.dataDir, options.resultFile);
  writeResult(file, given, result);
  print(`written to ${file}${kept}`);
  print(`the same plan again: npm run chaos -- ${optionsOf(given)}`);
  return { seed, passed: isOver && !stopping.aborted, result };
}
