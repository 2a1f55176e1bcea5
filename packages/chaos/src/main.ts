import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, describeVersions } from '@webhooks/ledger';
import type { Fault } from './fault.js';
import { fuzz } from './fuzz/fuzz.js';
import { loadFaults } from './load-faults.js';
import { formatPlan } from './plan/format-plan.js';
import { findPlanted } from './planted/find-planted.js';
import { PLANTED } from './planted/planted.js';
import { makePlan } from './plan/plan.js';
import { USAGE, readArguments } from './read-arguments.js';
import type { ChaosArguments } from './read-arguments.js';
import { countFaults, countKills, formatReport } from './report/report.js';
import { runChaos } from './run-chaos.js';
import type { ChaosResult } from './run-chaos.js';
import { WORKER_SETTINGS } from './world/settings.js';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', '.data');

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Aborts at the first signal, so that the run ends in order; a second one ends the process at once. */
function untilSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      print('· stopping: what is broken is mended, and the ledger is looked at');
      stopping.abort();
    });
  return stopping.signal;
}

function writeResult(given: ChaosArguments, result: ChaosResult): string {
  const file = join(DATA, 'chaos.json');
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
  return file;
}

/** The options with which this very run is made again. */
const optionsOf = ({ seed, minutes, faults, eventsPerSecond }: ChaosArguments): string =>
  [
    `--seed ${seed} --minutes ${minutes} --rate ${eventsPerSecond}`,
    ...(faults.length > 0 ? [`--faults ${faults.join(',')}`] : []),
  ].join(' ');

/** The faults that are wanted; all when none is named. */
const choose = ({ faults }: ChaosArguments, all: readonly Fault[]): readonly Fault[] =>
  faults.length === 0 ? all : all.filter(({ name }) => faults.includes(name));

/** Says what the run did not do; false when a run of all faults has not tested what it tried. */
function sayUntested({ faults }: ChaosArguments, { leftOut, untested }: ChaosResult): boolean {
  if (leftOut.length > 0) print(`left out: ${leftOut.join(', ')}`);
  // Whoever names faults wants these, and looks at them.
  const missing = faults.length === 0 ? untested : [];
  for (const what of missing) print(`not tested: ${what}`);
  return missing.length === 0;
}

async function storm(given: ChaosArguments, all: readonly Fault[]): Promise<number> {
  const { seed, minutes, eventsPerSecond } = given;
  const faults = choose(given, all);
  const durationMs = 60_000 * minutes;
  const steps = makePlan({ seed, durationMs, faults });
  print(`· the plan of ${optionsOf(given)}: ${steps.length} faults`);
  for (const line of formatPlan(steps)) print(line);
  const dataDir = join(DATA, `chaos-${process.pid}`);
  mkdirSync(dataDir, { recursive: true });
  const stopping = untilSignal();
  const result = await runChaos({
    seed,
    steps,
    faults,
    durationMs,
    eventsPerSecond,
    dataDir,
    stopping,
    print,
  });
  for (const line of formatReport(result)) print(line);
  const { findings, totals } = result.verdict;
  const isBalanced = findings.length === 0 && totals.accepted > 0;
  const hasTested = sayUntested(given, result);
  if (isBalanced) rmSync(dataDir, { recursive: true, force: true });
  const kept = isBalanced ? '' : `; everything else is kept in ${dataDir}`;
  print(`written to ${writeResult(given, result)}${kept}`);
  print(`the same plan again: npm run chaos -- ${optionsOf(given)}`);
  return isBalanced && hasTested ? 0 : 1;
}

/** Shows that each of these planted bugs, or of all, is found. */
async function lookForPlanted(names: readonly string[]): Promise<number> {
  const wanted = names.length === 0 ? PLANTED : PLANTED.filter(({ name }) => names.includes(name));
  const { missed, unclean } = await findPlanted(wanted, untilSignal(), print);
  print(`found ${wanted.length - missed.length} of ${wanted.length} planted bugs`);
  for (const options of unclean) print(`not clean with nothing planted: ${options}`);
  return missed.length + unclean.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const all = await loadFaults();
  const names = all.map(({ name }) => name);
  const bugs = PLANTED.map(({ name }) => name);
  const given = readArguments(process.argv.slice(2), { faults: names, bugs }, randomInt(2 ** 32 - 1));
  if (given.help) {
    print(`${USAGE}\nFaults: ${names.join(', ')}\nPlanted bugs: ${bugs.join(', ')}`);
    return 0;
  }
  if (given.planted) return lookForPlanted(given.planted);
  if (given.fuzz)
    return fuzz(given, { dataDir: join(DATA, `fuzz-${process.pid}`), stopping: untilSignal(), print });
  return storm(given, all);
}

process.exitCode = await main();
