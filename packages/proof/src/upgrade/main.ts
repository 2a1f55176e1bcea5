import { print, requireNginx } from '@webhooks/testkit/account';
import { runCommand } from '../campaign.js';
import { USAGE, planSwitches, readArguments } from './plan.js';
import type { UpgradeArguments } from './plan.js';
import { formatReport, runUpgrade } from './run-upgrade.js';
import { buildRelease } from './world.js';

/** Runs one seed, from its plan to its verdict. */
async function run({ from, ...given }: UpgradeArguments, dataDir: string, stopping: AbortSignal) {
  const plan = planSwitches(given.seed);
  for (const { afterMs, instance, to } of plan) print(`  after ${afterMs} ms  ${instance} to ${to}`);
  requireNginx();
  const release = buildRelease(from, print);
  const result = await runUpgrade({ ...given, plan, dataDir, release, stopping, print });
  for (const line of formatReport(result)) print(line);
  for (const what of result.untested) print(`not tested: ${what}`);
  return { passed: result.verdict.findings.length === 0 && result.untested.length === 0, result };
}

process.exitCode = await runCommand({
  ...{ name: 'upgrade', usage: USAGE, read: readArguments, run },
  optionsOf: ({ from, seed, eventsPerSecond }) => `--from ${from} --seed ${seed} --rate ${eventsPerSecond}`,
});
