import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_DIR, print } from '@webhooks/testkit/account';
import { runScenario } from './scenario.js';
import { describeRun } from '../campaign.js';
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
  const about = describeRun();
  const { machine, versions } = about;
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
  writeFileSync(file, `${JSON.stringify({ ...about, usage, reports, voids }, null, 2)}\n`);
  print(`\nwritten to ${file}`);
  // A child whose start failed must not keep this process.
  process.exit(voids.length > 0 ? 1 : 0);
}

await main();
