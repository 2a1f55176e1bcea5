import { parseArgs } from 'node:util';
import { readNumber } from '@webhooks/testkit/account';

const DEFAULT_MINUTES = 2;
const DEFAULT_RATE = 500;
const MAX_SEED = 2 ** 32 - 1;

export const USAGE = `npm run chaos -- [options]

  --seed N          seed of the plan and the events, 0 to ${MAX_SEED}; default: random, and printed
  --seeds N         number of runs, each with the next seed, and one report; 1 to 1000; default 1
  --minutes N       how long faults happen, 0.1 to 1440; default ${DEFAULT_MINUTES}
  --faults a,b,c    only these faults; default: all
  --rate N          events a second, 1 to 1000; default ${DEFAULT_RATE}
  --help            this text

The exit code is 0 only if the account balances. Without --faults a run must also do at least one fault,
accept events through each ingress, and make each kind of configuration change. It is 2 for wrong arguments.
A run that fails is kept in .data/chaos-<process>-<seed>.
`;

/** Splits names that are separated by commas. Throws for an unknown one. */
function readNames(text: string | undefined, known: readonly string[]): readonly string[] {
  const names = text?.split(',') ?? [];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown fault ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  return names;
}

/** Reads the arguments. Throws for invalid ones, and says what was expected. `randomSeed` is the default of `--seed`. */
export function readArguments(args: readonly string[], faults: readonly string[], randomSeed: number) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(randomSeed) },
      seeds: { type: 'string', default: '1' },
      minutes: { type: 'string', default: String(DEFAULT_MINUTES) },
      faults: { type: 'string' },
      rate: { type: 'string', default: String(DEFAULT_RATE) },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    seed: readNumber('seed', values.seed, { min: 0, max: MAX_SEED }),
    /** How many runs, each with the next seed. */
    seeds: readNumber('seeds', values.seeds, { min: 1, max: 1_000 }),
    minutes: readNumber('minutes', values.minutes, { min: 0.1, max: 1_440, isWhole: false }),
    /** Names of faults; empty: all. */
    faults: readNames(values.faults, faults),
    eventsPerSecond: readNumber('rate', values.rate, { min: 1, max: 1_000 }),
    help: values.help,
  };
}
export type ChaosArguments = ReturnType<typeof readArguments>;
