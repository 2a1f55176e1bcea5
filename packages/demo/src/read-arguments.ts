import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const SAMPLE = join(import.meta.dirname, '..', '..', 'sample', 'events.ndjson');

export const USAGE = `npm start -- [options]

  --events FILE   payment events to feed, one JSON object a line (default: the shipped sample)
  --once          uses free ports and a folder of its own, and ends; the exit code is 0 only if the ledger balances
  --help          prints this text

Environment:
  KAFKA_BROKERS, MONGODB_URI   use these instead of starting Kafka and a database
  NO_COLOR                     print without colour
`;

/** Throws when an argument is unknown. With `once` the demonstration ends by itself, with the balance as the last line. */
export function readArguments(args: readonly string[]): { once: boolean; help: boolean; eventsFile: string } {
  const { once, help, events } = parseArgs({
    args: [...args],
    options: {
      once: { type: 'boolean', default: false },
      events: { type: 'string', default: SAMPLE },
      help: { type: 'boolean', default: false },
    },
  }).values;
  // npm runs scripts in the project's folder; a relative path counts from the folder where the command was typed.
  return { once, help, eventsFile: resolve(process.env['INIT_CWD'] ?? '.', events) };
}
