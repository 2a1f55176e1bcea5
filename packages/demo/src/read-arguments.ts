import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface DemoArguments {
  /** Ends by itself, with the balance as the last line. */
  readonly once: boolean;
  readonly eventsFile: string;
  readonly help: boolean;
}

const SAMPLE = join(import.meta.dirname, '..', '..', 'sample', 'events.ndjson');

export const USAGE = `npm start -- [options]

  --events FILE   payment events to feed, one JSON object a line (default: the shipped sample)
  --once          uses free ports and a folder of its own, and ends; the exit code is 0 only if the ledger balances
  --help          prints this text

Environment:
  KAFKA_BROKERS, MONGODB_URI   use these instead of starting Kafka and a database
  NO_COLOR                     print without colour
`;

/** Throws with the usage when an argument is unknown. */
export function readArguments(args: readonly string[]): DemoArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        once: { type: 'boolean', default: false },
        events: { type: 'string', default: SAMPLE },
        help: { type: 'boolean', default: false },
      },
    });
    // npm runs scripts in the project's folder; a relative path counts from the folder where the command was typed.
    const eventsFile = resolve(process.env['INIT_CWD'] ?? '.', values.events);
    return { once: values.once, eventsFile, help: values.help };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : 'wrong arguments'}\n\n${USAGE}`, {
      cause: error,
    });
  }
}
