import { parseArgs } from 'node:util';
import type { Sizes } from './scenarios/scenario.js';

/** What the command line asks for. */
export interface Usage {
  readonly names: readonly string[];
  readonly whole: boolean;
  /** What was given for all scenarios named. */
  readonly sizes: Partial<Sizes>;
}

const LIMIT = 10_000_000;

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > LIMIT)
    throw new Error(`--${name}: expected a whole number from 1 to ${LIMIT}, came '${text}'`);
  return value;
}

/** Reads the arguments; `help` when they ask for it. Throws with what was expected for a name or number that is none. */
export function readUsage(args: readonly string[], scenarios: readonly string[]): Usage | 'help' {
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
  if (values.help) return 'help';
  const unknown = positionals.filter((name) => !scenarios.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown scenario ${unknown.join(', ')}; there are: ${scenarios.join(', ')}`);
  const [count, seconds] = [readNumber('count', values.count), readNumber('seconds', values.seconds)];
  const sizes = {
    ...(count === undefined ? {} : { count }),
    ...(seconds === undefined ? {} : { seconds }),
  };
  const { whole } = values;
  if (positionals.length > 0) return { names: [...new Set(positionals)], whole, sizes };
  if (Object.keys(sizes).length > 0)
    throw new Error('--count and --seconds mean something else in each scenario: name the ones you want');
  return { names: scenarios, whole, sizes };
}
