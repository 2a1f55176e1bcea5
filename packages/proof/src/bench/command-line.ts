import { parseArgs } from 'node:util';
import { readNumber } from '@webhooks/testkit/account';
import type { Scenario, Sizes } from './scenario.js';
import { attacks } from './scenarios/attacks.js';
import { handlers } from './scenarios/handlers.js';
import { isolation } from './scenarios/isolation.js';
import { objects } from './scenarios/objects.js';
import { query } from './scenarios/query.js';
import { throughput } from './scenarios/throughput.js';
import { wholeSystem } from './scenarios/whole-system.js';

/** All scenarios, the most important first. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  throughput,
  'whole-system': wholeSystem,
  isolation,
  attacks,
  query,
  handlers,
  objects,
};

const SIZE = { min: 1, max: 10_000_000 };

/** Reads the arguments; returns `help` for `--help`. Throws for an unknown scenario or an invalid number, and says what was expected. */
export function readUsage(args: readonly string[], scenarios: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      count: { type: 'string' },
      seconds: { type: 'string' },
      whole: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { help, whole, ...given } = values;
  if (help) return 'help' as const;
  const unknown = positionals.filter((name) => !scenarios.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown scenario ${unknown.join(', ')}; there are: ${scenarios.join(', ')}`);
  /** The given sizes, which apply to all named scenarios. */
  const sizes: Partial<Sizes> = Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, readNumber(name, text, SIZE)]),
  );
  if (positionals.length === 0 && Object.keys(sizes).length > 0)
    throw new Error('--count and --seconds mean something else in each scenario: name the ones you want');
  const names = positionals.length === 0 ? scenarios : [...new Set(positionals)];
  return { names, whole, sizes };
}

const sizeText = ({ count, seconds }: Sizes): string =>
  [count > 0 ? count.toLocaleString('en-US') : '', seconds > 0 ? `${seconds} s` : '']
    .filter(Boolean)
    .join(', ');

/** What `--help` prints. */
export function usageText(scenarios: Readonly<Record<string, Scenario>>): readonly string[] {
  const width = Math.max(...Object.keys(scenarios).map((name) => name.length));
  return [
    'npm run bench -- [scenario …] [--count N] [--seconds N] [--whole]',
    '',
    'Without a name all scenarios run, shortened. A run whose delivery account does not balance shows no figure,',
    'and the exit code is 1. Figures are written to .data/bench.json.',
    '',
    ...Object.entries(scenarios).flatMap(([name, { title, usual, whole }]) => [
      `  ${name.padEnd(width)}  ${title}`,
      `  ${''.padEnd(width)}  default ${sizeText(usual)}; with --whole ${sizeText(whole)}`,
    ]),
    '',
    '  --count N, --seconds N  size of the named scenarios; each scenario above says what it counts',
    '  --whole                 full length of the named scenarios; all of them take hours',
  ];
}
