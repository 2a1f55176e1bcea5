import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { campaign } from './campaign.js';
import { fuzz } from './fuzz/fuzz.js';
import { loadFaults } from './load-faults.js';
import { findPlanted } from './planted/find-planted.js';
import { PLANTED } from './planted/planted.js';
import { USAGE, readArguments } from './read-arguments.js';
import type { ChaosArguments, KnownNames } from './read-arguments.js';
import { storm } from './storm.js';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', '.data');

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Aborts at the first signal, so that the run ends in order; a second one ends the process at once. */
function untilSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      print('· stopping: what is broken is mended, and the ledger is looked at');
      stopping.abort();
    });
  return stopping.signal;
}

/** Shows that each of these planted bugs, or of all, is found. */
async function lookForPlanted(names: readonly string[]): Promise<number> {
  const wanted = names.length === 0 ? PLANTED : PLANTED.filter(({ name }) => names.includes(name));
  const { missed, unclean } = await findPlanted(wanted, untilSignal(), print);
  print(`found ${wanted.length - missed.length} of ${wanted.length} planted bugs`);
  for (const options of unclean) print(`not clean with nothing planted: ${options}`);
  return missed.length + unclean.length === 0 ? 0 : 1;
}

/** Undefined when the arguments are none, which has been said then. */
function readOrSay(known: KnownNames): ChaosArguments | undefined {
  try {
    return readArguments(process.argv.slice(2), known, randomInt(2 ** 32 - 1));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${why}\nnpm run chaos -- --help tells what there is\n`);
    return undefined;
  }
}

async function main(): Promise<number> {
  const all = await loadFaults();
  const names = all.map(({ name }) => name);
  const bugs = PLANTED.map(({ name }) => name);
  const given = readOrSay({ faults: names, bugs });
  if (!given) return 2;
  if (given.help) {
    print(`${USAGE}\nFaults: ${names.join(', ')}\nPlanted bugs: ${bugs.join(', ')}`);
    return 0;
  }
  if (given.planted) return lookForPlanted(given.planted);
  if (given.fuzz)
    return fuzz(given, { dataDir: join(DATA, `fuzz-${process.pid}`), stopping: untilSignal(), print });
  const options = { given, all, dataDir: DATA, stopping: untilSignal(), print };
  const passed =
    given.seeds > 1
      ? await campaign(options)
      : (await storm({ ...options, resultFile: 'chaos.json' })).passed;
  return passed ? 0 : 1;
}

process.exitCode = await main();
