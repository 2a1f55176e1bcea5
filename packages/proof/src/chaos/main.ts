import { print } from '@webhooks/testkit/account';
import { runCommand } from '../campaign.js';
import { FAULTS } from './faults.js';
import { formatPlan, makePlan } from './plan.js';
import { USAGE, readArguments } from './read-arguments.js';
import type { ChaosArguments } from './read-arguments.js';
import { formatReport } from './report.js';
import { runChaos } from './run-chaos.js';
import type { ChaosResult } from './run-chaos.js';

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

/** Runs one seed, from its plan to its verdict. */
async function run(given: ChaosArguments, dataDir: string, stopping: AbortSignal) {
  const faults = FAULTS.filter(({ name }) => given.faults.length === 0 || given.faults.includes(name));
  const durationMs = 60_000 * given.minutes;
  const steps = makePlan({ ...given, durationMs, faults });
  for (const line of formatPlan(steps)) print(line);
  const result = await runChaos({ ...given, steps, durationMs, dataDir, stopping, print });
  for (const line of formatReport(result)) print(line);
  return { passed: hasPassed(result, given), result };
}

const NAMES = [...new Set(FAULTS.map(({ name }) => name))];

process.exitCode = await runCommand({
  name: 'chaos',
  usage: `${USAGE}\nFaults: ${NAMES.join(', ')}`,
  read: (args, randomSeed) => readArguments(args, NAMES, randomSeed),
  ...{ optionsOf, run },
});
