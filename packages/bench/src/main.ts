import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine } from '@webhooks/ledger';
import { readUsage } from './read-usage.js';
import type { Usage } from './read-usage.js';
import type { RunReport, VoidReport } from './report/figure.js';
import { describeSettings, describeVersions } from './report/machine.js';
import { formatSummary } from './report/table.js';
import { runScenario } from './run-scenario.js';
import { SCENARIOS } from './scenarios/index.js';
import type { Shared } from './scenarios/scenario.js';
import { formatAdvice, usageText } from './usage-text.js';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', '.data');

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const names = Object.keys(SCENARIOS);

interface Outcome {
  readonly reports: readonly RunReport[];
  readonly voids: readonly VoidReport[];
  /** Scenarios for which there was no time left. */
  readonly skipped: readonly string[];
}

/** When no scenario is named, none is begun after this time, so that all of it takes about ten minutes. */
const LAST_START_MS = 540_000;

async function runAll(usage: Usage): Promise<Outcome> {
  const [reports, voids]: [RunReport[], VoidReport[]] = [[], []];
  const [shared, skipped]: [Shared, string[]] = [{}, []];
  const isTimed = usage.names === names && !usage.whole;
  const startedAt = performance.now();
  for (const name of usage.names) {
    const scenario = SCENARIOS[name];
    if (!scenario) continue;
    if (isTimed && performance.now() - startedAt > LAST_START_MS) {
      skipped.push(name);
      continue;
    }
    print(`\n· ${name}: ${scenario.title}`);
    const dataDir = join(DATA, `bench-${process.pid}`);
    const outcome = await runScenario({ ...usage, name, scenario, shared, dataDir, print });
    reports.push(...outcome.reports);
    voids.push(...outcome.voids);
  }
  return { reports, voids, skipped };
}

function writeResults(usage: Usage, outcome: Outcome, seconds: number): string {
  const file = join(DATA, 'bench.json');
  const about = {
    at: new Date().toISOString(),
    seconds: Math.round(seconds),
    machine: describeMachine(),
    versions: describeVersions(),
    settings: { ...describeSettings(), ...usage },
  };
  writeFileSync(file, `${JSON.stringify({ ...about, ...outcome }, null, 2)}\n`);
  return file;
}

async function main(): Promise<void> {
  const usage = readUsage(process.argv.slice(2), names);
  if (usage === 'help') {
    for (const line of usageText(SCENARIOS)) print(line);
    return;
  }
  mkdirSync(DATA, { recursive: true });
  const startedAt = performance.now();
  const { processor, cores, memoryGiB } = describeMachine();
  const { node, undici, kafkajs, kafka } = describeVersions();
  print(
    `${processor}, ${cores} cores, ${memoryGiB} GiB; node ${node}, undici ${undici}, kafkajs ${kafkajs}, Kafka ${kafka}`,
  );
  const outcome = await runAll(usage);
  for (const line of formatSummary(outcome.reports, outcome.voids)) print(line);
  const seconds = (performance.now() - startedAt) / 1_000;
  print(`\nwritten to ${writeResults(usage, outcome, seconds)} after ${seconds.toFixed(0)} s`);
  for (const line of formatAdvice(usage, outcome.skipped)) print(line);
  if (outcome.voids.length > 0) process.exitCode = 1;
}

await main();
