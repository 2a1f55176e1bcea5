import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface ChaosArguments {
  readonly seed: number;
  /** How many runs, each with the next seed. */
  readonly seeds: number;
  readonly minutes: number;
  /** Names of faults; empty: all. */
  readonly faults: readonly string[];
  readonly eventsPerSecond: number;
  /** Show that planted bugs are found, instead of a run: their names; empty: all. Undefined: a run. */
  readonly planted?: readonly string[];
  /** Gives nonsense to the doors of the services instead of breaking them. */
  readonly fuzz: boolean;
  /** Names of doors, separated by commas; empty: all. */
  readonly doors: string;
  /** Number of the first input of each door. */
  readonly from: number;
  readonly help: boolean;
}

const DEFAULT_MINUTES = 2;
const DEFAULT_RATE = 60;
const MAX_SEED = 2 ** 32 - 1;

export const USAGE = `npm run chaos -- [options]

  --seed N          seed of the plan and the events, 0 to ${MAX_SEED}; default: random, and printed
  --seeds N         number of runs, each with the next seed, and one report; 1 to 1000; default 1
  --minutes N       how long faults happen, 0.1 to 1440; default ${DEFAULT_MINUTES}
  --faults a,b,c    only these faults; default: all
  --rate N          events a second, 1 to 1000; default ${DEFAULT_RATE}
  --planted [NAME]  builds known bugs into a copy, and shows that a run finds each; default: all
  --fuzz            sends damaged input to every interface instead of breaking anything; takes --seed and --minutes
  --doors a,b,c     with --fuzz: only these interfaces; default: all
  --from N          with --fuzz: begin with this input of each interface, 0 to ${MAX_SEED}; default 0
  --help            this text

The exit code is 0 only if the ledger balances. Without --faults a run must also have done a fault, accepted events
on each way in, changed a configuration, and checked one that was disabled and enabled again. A kind of fault that never
happened is named. With --planted the exit code is 0 only if every bug was found, and nothing without one.
It is 2 for wrong arguments. A run that fails is kept in .data/chaos-<process>-<seed>.
`;

function readNumber(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most))
    throw new Error(`--${name}: expected a number from ${least} to ${most}, came '${text}'`);
  return value;
}

function readWhole(name: string, text: string, bounds: readonly [number, number]): number {
  const value = readNumber(name, text, bounds);
  if (!Number.isInteger(value)) throw new Error(`--${name}: expected a whole number, came '${text}'`);
  return value;
}

/** Throws for names that nothing has. */
function knownOnly(what: string, names: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown ${what} ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  return names;
}

/** What can be named. */
export interface KnownNames {
  readonly faults: readonly string[];
  readonly bugs: readonly string[];
}

const OPTIONS = {
  seed: { type: 'string' },
  seeds: { type: 'string' },
  minutes: { type: 'string' },
  faults: { type: 'string' },
  rate: { type: 'string' },
  planted: { type: 'boolean' },
  fuzz: { type: 'boolean' },
  doors: { type: 'string' },
  from: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const DEFAULTS = {
  seeds: '1',
  minutes: String(DEFAULT_MINUTES),
  faults: undefined,
  rate: String(DEFAULT_RATE),
  planted: false,
  fuzz: false,
  doors: '',
  from: '0',
  help: false,
};

/** What goes with what: an option that would do nothing is a mistake, and a run of minutes is a long answer to it. */
const GO_WITH: Readonly<Record<'planted' | 'fuzz' | 'storm', readonly string[]>> = {
  planted: ['planted', 'help'],
  fuzz: ['fuzz', 'seed', 'minutes', 'doors', 'from', 'help'],
  storm: ['seed', 'seeds', 'minutes', 'faults', 'rate', 'help'],
};

function refuseIdle(given: readonly string[]): void {
  const mode = given.includes('planted') ? 'planted' : given.includes('fuzz') ? 'fuzz' : 'storm';
  const idle = given.filter((name) => !GO_WITH[mode].includes(name)).map((name) => `--${name}`);
  if (idle.length === 0) return;
  const where = mode === 'storm' ? 'without --fuzz' : `with --${mode}`;
  throw new Error(`${idle.join(', ')}: means nothing ${where}`);
}

/** Names separated by commas; empty when none are given. Throws when an empty text is. */
function readNames(name: string, text: string | undefined): readonly string[] {
  if (text === '') throw new Error(`--${name}: expected names separated by commas, came ''`);
  return text === undefined ? [] : text.split(',');
}

/** Throws with what was expected. `chance` is the seed of a run that names none. */
export function readArguments(args: readonly string[], known: KnownNames, chance: number): ChaosArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: args.includes('--planted'),
    options: OPTIONS,
  });
  refuseIdle(Object.keys(values));
  const given = { ...DEFAULTS, seed: String(chance), ...values };
  return {
    seed: readWhole('seed', given.seed, [0, MAX_SEED]),
    seeds: readWhole('seeds', given.seeds, [1, 1_000]),
    minutes: readNumber('minutes', given.minutes, [0.1, 1_440]),
    eventsPerSecond: readWhole('rate', given.rate, [1, 1_000]),
    faults: knownOnly('fault', readNames('faults', given.faults), known.faults),
    ...(given.planted ? { planted: knownOnly('planted bug', positionals, known.bugs) } : {}),
    fuzz: given.fuzz,
    doors: given.doors,
    from: readWhole('from', given.from, [0, MAX_SEED]),
    help: given.help,
  };
}
