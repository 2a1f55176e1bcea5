import { parseArgs } from 'node:util';
import { readNumber } from '@webhooks/testkit/account';
import { RATE_USAGE, SEED_USAGE, readSeeds, seedOptions } from '../campaign.js';

const DEFAULT_MINUTES = 2;

export const USAGE = `npm run chaos -- [options]

${SEED_USAGE}
  --minutes N       how long faults happen, 0.1 to 1440; default ${DEFAULT_MINUTES}
  --faults a,b,c    only these faults; default: all
${RATE_USAGE}

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
      ...seedOptions(randomSeed),
      minutes: { type: 'string', default: String(DEFAULT_MINUTES) },
      faults: { type: 'string' },
    },
  });
  return {
    ...readSeeds(values),
    minutes: readNumber('minutes', values.minutes, { min: 0.1, max: 1_440, isWhole: false }),
    /** Names of faults; empty: all. */
    faults: readNames(values.faults, faults),
    help: values.help,
  };
}
export type ChaosArguments = ReturnType<typeof readArguments>;
