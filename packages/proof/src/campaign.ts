import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { DATA_DIR, print, readNumber, untilSignal } from '@webhooks/testkit/account';

const require = createRequire(import.meta.url);

const versionOf = (name: string): string =>
  (require(`${name}/package.json`) as { readonly version: string }).version;

/**
 * Returns when and where a run takes place, and the versions of what it uses. Kafka's version is the embedded broker's, from the jar lock
 * of `local`.
 */
export function describeRun() {
  const lock = join(dirname(require.resolve('@webhooks/local')), '..', '..', 'kafka-jars.lock.json');
  const kafka = /:kafka_[\d.]+:([\d.]+)/.exec(readFileSync(lock, 'utf8'))?.[1] ?? 'unknown';
  const { node, openssl } = process.versions;
  return {
    at: new Date().toISOString(),
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: { node, openssl, kafkajs: versionOf('kafkajs'), kafka, undici: versionOf('undici') },
  };
}

const MAX_SEED = 2 ** 32 - 1;
const DEFAULT_RATE = 500;

/** The options of every command with seeded runs, for `parseArgs`. `randomSeed` is the default of `--seed`. */
export const seedOptions = (randomSeed: number) =>
  ({
    seed: { type: 'string', default: String(randomSeed) },
    seeds: { type: 'string', default: '1' },
    rate: { type: 'string', default: String(DEFAULT_RATE) },
    help: { type: 'boolean', default: false },
  }) as const;

/** The lines of `--help` about them, before and after the command's own ones. */
export const SEED_USAGE = `  --seed N          seed of the plan and the events, 0 to ${MAX_SEED}; default: random, and printed
  --seeds N         number of runs, each with the next seed, and one report; 1 to 1000; default 1`;
export const RATE_USAGE = `  --rate N          events a second, 1 to 1000; default ${DEFAULT_RATE}
  --help            this text`;

/** Reads the values of these options. Throws for invalid ones, and says what was expected. */
export const readSeeds = (values: Readonly<Record<'seed' | 'seeds' | 'rate', string>>) => ({
  seed: readNumber('seed', values.seed, { min: 0, max: MAX_SEED }),
  /** How many runs, each with the next seed. */
  seeds: readNumber('seeds', values.seeds, { min: 1, max: 1_000 }),
  eventsPerSecond: readNumber('rate', values.rate, { min: 1, max: 1_000 }),
});

/** What became of a seed. Without a result it has no verdict, because the runner itself failed. */
interface Outcome {
  readonly passed: boolean;
  readonly result?: unknown;
}

/** A command that runs seeds. */
interface Command<A> {
  readonly name: 'chaos' | 'upgrade';
  readonly usage: string;
  /** Reads the arguments; throws for invalid ones. */
  readonly read: (args: readonly string[], randomSeed: number) => A;
  /** The options that repeat a run. */
  readonly optionsOf: (given: A) => string;
  /** Runs one seed, from its plan to its verdict. Its data lie in `dataDir`. */
  readonly run: (given: A, dataDir: string, stopping: AbortSignal) => Promise<Outcome>;
}

type SeedArguments = Pick<ReturnType<typeof readSeeds>, 'seed' | 'seeds'> & { readonly help: boolean };

/** Runs one seed after the other, and writes all results so far after each. Returns true when each run passed. */
async function runSeeds<A extends SeedArguments>(command: Command<A>, given: A, stopping: AbortSignal) {
  const { name, optionsOf, run } = command;
  mkdirSync(DATA_DIR, { recursive: true });
  const about = { ...describeRun(), settings: given };
  const again = `npm run ${name} -- ${optionsOf(given)} --seeds ${given.seeds}`;
  const runs: (Outcome & { readonly seed: number })[] = [];
  for (let seed = given.seed; seed < given.seed + given.seeds && !stopping.aborted; seed += 1) {
    const dataDir = join(DATA_DIR, `${name}-${process.pid}-${seed}`);
    print(`· the plan of ${optionsOf({ ...given, seed })}`);
    const done = await run({ ...given, seed }, dataDir, stopping).catch((error: unknown) => {
      print(`seed ${seed} has no verdict: ${inspect(error)}`);
      return { passed: false };
    });
    const passed = done.passed && !stopping.aborted;
    if (passed) rmSync(dataDir, { recursive: true, force: true });
    else print(`everything is kept in ${dataDir}`);
    runs.push({ ...done, seed, passed });
    writeFileSync(join(DATA_DIR, `${name}.json`), `${JSON.stringify({ ...about, runs }, null, 2)}\n`);
  }
  print(`written to ${join(DATA_DIR, name)}.json; to run the same plan again: ${again}`);
  return runs.length === given.seeds && runs.every(({ passed }) => passed);
}

/** Runs a command from its arguments to its exit code: 0 when each run passed, 2 for wrong arguments. */
export async function runCommand<A extends SeedArguments>(command: Command<A>): Promise<number> {
  let given: A;
  try {
    given = command.read(process.argv.slice(2), randomInt(MAX_SEED));
  } catch (error) {
    process.stderr.write(`${String(error)}\nnpm run ${command.name} -- --help lists the options\n`);
    return 2;
  }
  if (given.help) {
    print(command.usage);
    return 0;
  }
  const stopping = untilSignal();
  stopping.onabort = () => print('· stopping: what runs is ended, then the delivery account is checked');
  return (await runSeeds(command, given, stopping)) ? 0 : 1;
}
