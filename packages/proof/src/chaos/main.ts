import { randomInt } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_DIR, print, untilSignal } from '@webhooks/testkit/account';
import { describeRun } from '../describe-run.js';
import { FAULTS } from './faults.js';
import { formatPlan, makePlan } from './plan.js';
import { USAGE, readArguments } from './read-arguments.js';
import type { ChaosArguments } from './read-arguments.js';
import { formatCampaign, formatReport } from './report.js';
import type { SeedRun } from './report.js';
import { runChaos } from './run-chaos.js';
import type { ChaosResult } from './run-chaos.js';
import { WORKER_SETTINGS } from './world/configurations.js';

/** Returns the options that repeat a run. */
const optionsOf = ({ seed, minutes, faults, eventsPerSecond }: ChaosArguments): string =>
  [
    `--seed ${seed} --minutes ${minutes} --rate ${eventsPerSecond}`,
    ...(faults.length > 0 ? [`--faults ${faults.join(',')}`] : []),
  ].join(' ');

/** Whether a run passed: no finding, at least one accepted event, and nothing untested. A run with `--faults` may leave things untested. */
function hasPassed({ verdict, untested }: ChaosResult, { faults }: ChaosArguments): boolean {
  const missing = faults.length === 0 ? untested : [];
  for (const what of missing) print(`not tested: ${what}`);
  return verdict.findings.length === 0 && verdict.totals.accepted > 0 && missing.length === 0;
}

/** Runs one seed, from its plan to its verdict. The data of a run that did not pass is retained. */
async function runSeed(given: ChaosArguments, stopping: AbortSignal): Promise<SeedRun> {
  const { seed, minutes, eventsPerSecond } = given;
  const faults = FAULTS.filter(({ name }) => given.faults.length === 0 || given.faults.includes(name));
  const durationMs = 60_000 * minutes;
  const steps = makePlan({ seed, durationMs, faults });
  print(`· the plan of ${optionsOf(given)}: ${steps.length} faults`);
  for (const line of formatPlan(steps)) print(line);
  const dataDir = join(DATA_DIR, `chaos-${process.pid}-${seed}`);
  try {
    const result = await runChaos({ seed, steps, durationMs, eventsPerSecond, dataDir, stopping, print });
    for (const line of formatReport(result)) print(line);
    const passed = hasPassed(result, given) && !stopping.aborted;
    if (passed) rmSync(dataDir, { recursive: true, force: true });
    else print(`everything is kept in ${dataDir}`);
    return { seed, passed, result };
  } catch (error) {
    print(`seed ${seed} has no verdict: ${error instanceof Error ? String(error.stack) : String(error)}`);
    return { seed, passed: false };
  }
}

/** Runs one seed after the other, and writes all results so far after each. Returns true when each run passed. */
async function campaign(given: ChaosArguments, stopping: AbortSignal): Promise<boolean> {
  const [resultFile, reportFile] = [join(DATA_DIR, 'chaos.json'), join(DATA_DIR, 'chaos-report.md')];
  const about = { ...describeRun(), settings: { ...given, worker: WORKER_SETTINGS } };
  const command = `npm run chaos -- ${optionsOf(given)} --seeds ${given.seeds}`;
  const runs: SeedRun[] = [];
  for (let nth = 0; nth < given.seeds && !stopping.aborted; nth += 1) {
    runs.push(await runSeed({ ...given, seed: given.seed + nth }, stopping));
    writeFileSync(resultFile, `${JSON.stringify({ ...about, runs }, null, 2)}\n`);
    writeFileSync(reportFile, formatCampaign(runs, command, JSON.stringify(about.machine)));
  }
  print(`written to ${resultFile} and ${reportFile}`);
  print(`to run the same plan again: ${command}`);
  return runs.length === given.seeds && runs.every(({ passed }) => passed);
}

const NAMES = [...new Set(FAULTS.map(({ name }) => name))];

async function main(): Promise<number> {
  let given: ChaosArguments;
  try {
    given = readArguments(process.argv.slice(2), NAMES, randomInt(2 ** 32 - 1));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${why}\nnpm run chaos -- --help lists the options\n`);
    return 2;
  }
  if (given.help) {
    print(`${USAGE}\nFaults: ${NAMES.join(', ')}`);
    return 0;
  }
  const stopping = untilSignal();
  stopping.onabort = () => print('· stopping: faults are ended, then the delivery account is checked');
  return (await campaign(given, stopping)) ? 0 : 1;
}

process.exitCode = await main();
