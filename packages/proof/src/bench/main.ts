import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DATA_DIR, print } from '@webhooks/testkit/account';
import { runScenario } from './scenario.js';
import { describeMachine, describeVersions } from '../machine.js';
import { SCENARIOS, readUsage, usageText } from './command-line.js';
import { formatSummary } from './report.js';
import type { RunReport, VoidReport } from './report.js';

async function main(): Promise<void> {
  const usage = readUsage(process.argv.slice(2), Object.keys(SCENARIOS));
  if (usage === 'help') {
    usageText(SCENARIOS).forEach(print);
    return;
  }
  mkdirSync(DATA_DIR, { recursive: true });
  const machine = describeMachine();
  const undici = createRequire(import.meta.url)('undici/package.json') as { readonly version: string };
  const versions = { ...describeVersions(), undici: undici.version };
  print(`${machine.processor}, ${machine.cores} cores, ${Object.entries(versions).flat().join(' ')}`);
  const [reports, voids]: [RunReport[], VoidReport[]] = [[], []];
  for (const name of usage.names) {
    const scenario = SCENARIOS[name];
    if (!scenario) continue;
    print(`\n· ${name}: ${scenario.title}`);
    const sizes = { ...(usage.whole ? scenario.whole : scenario.usual), ...usage.sizes };
    const dataDir = join(DATA_DIR, `bench-${process.pid}`);
    const outcome = await runScenario({ name, scenario, sizes, dataDir, print });
    reports.push(...outcome.reports);
    voids.push(...outcome.voids);
  }
  formatSummary(reports, voids).forEach(print);
  const file = join(DATA_DIR, 'bench.json');
  const about = { at: new Date().toISOString(), machine, versions, usage };
  writeFileSync(file, `${JSON.stringify({ ...about, reports, voids }, null, 2)}\n`);
  print(`\nwritten to ${file}`);
  if (voids.length > 0) process.exitCode = 1;
}

await main();
