import { randomInt } from 'node:crypto';
import { print, untilSignal } from '@webhooks/testkit/account';
import { campaign } from './campaign.js';
import { FAULTS } from './faults.js';
import { USAGE, readArguments } from './read-arguments.js';
import type { ChaosArguments } from './read-arguments.js';

const NAMES = [...new Set(FAULTS.map(({ name }) => name))];

/** Undefined when the arguments are none, which has been said then. */
function readOrSay(): ChaosArguments | undefined {
  try {
    return readArguments(process.argv.slice(2), NAMES, randomInt(2 ** 32 - 1));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${why}\nnpm run chaos -- --help lists the options\n`);
    return undefined;
  }
}

async function main(): Promise<number> {
  const given = readOrSay();
  if (!given) return 2;
  if (given.help) {
    print(`${USAGE}\nFaults: ${NAMES.join(', ')}`);
    return 0;
  }
  const stopping = untilSignal();
  stopping.onabort = () => print('· stopping: what is broken is mended, and the ledger is looked at');
  return (await campaign({ given, stopping })) ? 0 : 1;
}

process.exitCode = await main();
