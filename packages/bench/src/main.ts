import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '@webhooks/stack';
import { describeMachine } from './machine.js';
import { measureMemory } from './memory.js';
import { startReceiver } from './receiver.js';
import { measureReference } from './reference.js';
import type { Figure, Scenario } from './scenario.js';
import { measureThroughput } from './throughput.js';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  reference: measureReference,
  throughput: measureThroughput,
  memory: measureMemory,
};
const DEFAULT = ['reference', 'throughput'];
const DATA = join(import.meta.dirname, '..', '..', '..', '..', '.data');

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const USAGE = `npm run bench -- [scenario …] [--count N]

  scenarios: ${Object.keys(SCENARIOS).join(', ')} (default: ${DEFAULT.join(', ')})
  --count N  events or posts of each scenario (default: 20,000; memory: 200,000)
`;

function readScenarios(args: readonly string[]): {
  readonly names: readonly string[];
  readonly count: number | undefined;
} {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { count: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    print(USAGE);
    process.exit(0);
  }
  const unknown = positionals.filter((name) => !(name in SCENARIOS));
  if (unknown.length > 0)
    throw new Error(
      `unknown scenario ${unknown.join(', ')}; there are: ${Object.keys(SCENARIOS).join(', ')}`,
    );
  return {
    names: positionals.length > 0 ? positionals : DEFAULT,
    count: values.count === undefined ? undefined : Number(values.count),
  };
}

function report(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map(({ scenario, name }) => scenario.length + name.length)) + 2;
  print('');
  for (const { scenario, name, value, unit } of figures) {
    print(`${`${scenario}  ${name}`.padEnd(width)}  ${value.toFixed(1).padStart(10)} ${unit}`);
  }
  const find = (scenario: string, name: string): number | undefined =>
    figures.find((figure) => figure.scenario === scenario && figure.name === name)?.value;
  const limit = find('reference', 'CPU for each post');
  const worker = find('throughput', 'CPU for each delivery: delivery-worker');
  if (limit !== undefined && worker !== undefined) {
    print(
      `\nthe worker reaches ${((100 * limit) / worker).toFixed(0)} % of the reference's deliveries for each CPU second`,
    );
  }
}

async function main(): Promise<void> {
  const { names, count } = readScenarios(process.argv.slice(2));
  const dataDir = join(DATA, `bench-${process.pid}`);
  mkdirSync(dataDir, { recursive: true });
  const stack = await startStack({ dataDir, fixedPorts: false, log: (line) => print(`· ${line}`) });
  try {
    const receiver = await startReceiver(stack.description().tls, join(dataDir, 'receipts.ndjson'));
    const figures: Figure[] = [];
    for (const name of names)
      figures.push(...((await SCENARIOS[name]?.({ stack, receiver, count, print })) ?? []));
    await receiver.stop();
    report(figures);
    const file = join(DATA, 'bench.json');
    writeFileSync(
      file,
      `${JSON.stringify({ at: new Date().toISOString(), machine: describeMachine(), figures }, null, 2)}\n`,
    );
    print(`\nwritten to ${file}`);
  } finally {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
