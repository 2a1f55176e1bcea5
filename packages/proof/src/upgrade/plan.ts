import { parseArgs } from 'node:util';
import { createRandom } from '@webhooks/testkit';
import { RATE_USAGE, SEED_USAGE, readSeeds, seedOptions } from '../campaign.js';

export const USAGE = `npm run upgrade -- --from REVISION [options]

  --from REVISION   the release to upgrade from and to go back to: a tag, or any other revision of git
${SEED_USAGE}
${RATE_USAGE}

The exit code is 0 only if the account balances, no call failed, no partition's deliveries paused for more than 5 s, and
no switch had more than 100 repeats. It is 2 for wrong arguments. A run that fails is kept in .data/upgrade-<process>-<seed>.
`;

/** Reads the arguments. Throws for invalid ones, and says what was expected. `randomSeed` is the default of `--seed`. */
export function readArguments(args: readonly string[], randomSeed: number) {
  const options = { ...seedOptions(randomSeed), from: { type: 'string', default: '' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.from === '' && !values.help) throw new Error('--from: expected a revision, such as 0.9.0');
  return { ...readSeeds(values), from: values.from, help: values.help };
}
export type UpgradeArguments = ReturnType<typeof readArguments>;

export const SERVICES = ['config-api', 'ingest', 'query-api', 'delivery-worker'] as const;

/** Two instances of each service, with the names under which they start again. */
export const INSTANCES = SERVICES.flatMap((service) => [
  { service, instance: service },
  { service, instance: `${service}-2` },
]);
export type Instance = (typeof INSTANCES)[number];

/** One instance is stopped in order and started with the other build. */
export interface Switch extends Instance {
  /** `old`: the release that `--from` names. `new`: this checkout. */
  readonly to: 'old' | 'new';
  /** Pause before it, in which the builds run side by side; milliseconds. */
  readonly afterMs: number;
}

/** Milliseconds between two switches: longer than a rebalance takes, and 16 pauses are half a minute. */
const PAUSE_MS = [1_000, 3_000] as const;

/** Plans every switch: each instance forwards, in any order, then each one back. The same seed gives the same plan on every machine. */
export function planSwitches(seed: number): readonly Switch[] {
  const random = createRandom(seed);
  return (['new', 'old'] as const).flatMap((to) => {
    const left = [...INSTANCES];
    const drawn = INSTANCES.flatMap(() => left.splice(random.int(0, left.length - 1), 1));
    return drawn.map((instance) => ({ ...instance, to, afterMs: random.int(...PAUSE_MS) }));
  });
}
