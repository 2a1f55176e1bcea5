import { once as onceEmitted } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { choosePort, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { DATA_DIR, paint, print, untilSignal } from '@webhooks/testkit/account';
import { createArrivalLines, untilProjected, watchBreakers } from './watch.js';
import { prepareScenario } from './scenario.js';
import { writeEnvFile } from './env-script.js';
import { readEventsFile, feedAndAccount } from './run-demo.js';
import type { Balance } from './run-demo.js';
import { showAddresses, showCommands, showFaults, unbalancedLine } from './show.js';
import { showQueries } from './show-truth.js';

const SAMPLE = join(import.meta.dirname, '..', '..', 'sample', 'events.ndjson');

const USAGE = `npm start -- [options]

  --events FILE   payment events to feed, one JSON object a line (default: the shipped sample)
  --once          uses free ports and a folder of its own, and ends; the exit code is 0 only if the account balances
  --help          prints this text

Environment:
  KAFKA_BROKERS, MONGODB_URI   use these instead of starting Kafka and a database
  NO_COLOR                     print without colour
`;

/** Reads the arguments. Throws for an unknown one. `once`: the demonstration ends by itself, and prints the balance last. */
function readArguments(args: readonly string[]): { once: boolean; help: boolean; eventsFile: string } {
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

const RECEIVER_PORT = 8443;

/** What has to be stopped at the end; set once it exists. */
interface Running {
  stack?: Stack;
  /** File with the addresses of this stack; removed when the stack stops. */
  envFile?: string;
  /** Rejected when the data folder is deleted. */
  readonly lost: PromiseWithResolvers<never>;
}

/** Removes the file with the addresses, then stops the stack. */
async function stop(running: Running): Promise<void> {
  const { stack, envFile } = running;
  delete running.stack;
  if (envFile !== undefined) rmSync(envFile, { force: true });
  await stack?.stop();
}

/** Runs the demonstration. Resolves with the exit code, or with undefined when the stack keeps running. */
async function demonstrate(once: boolean, eventsFile: string, running: Running): Promise<number | undefined> {
  const lines = await readEventsFile(eventsFile);
  const dataDir = once ? join(DATA_DIR, `once-${process.pid}`) : DATA_DIR;
  const tenants = [...new Set(lines.flatMap(({ event }) => event?.tenantId ?? []))];
  const started = performance.now();
  print('· starting Kafka, MongoDB, token issuer and services');
  const log = (line: string): void => print(`· ${line}`);
  const stack = await startStack({
    dataDir,
    fixedPorts: !once,
    withConsole: true,
    tenants,
    log,
    onLost: running.lost.reject,
  });
  running.stack = stack;
  print(paint('green', `· everything is up after ${((performance.now() - started) / 1_000).toFixed(1)} s`));
  showFaults(lines);
  const port = await choosePort('the receiver', once ? undefined : RECEIVER_PORT, log);
  const scenario = await prepareScenario(stack, lines, dataDir, port);
  const { origin } = scenario.receiver;
  // Written before the events are fed, because other terminals can use the stack from here on.
  running.envFile = writeEnvFile(dataDir, stack.description(), origin);
  if (!once) showAddresses(stack.description(), origin, dataDir);
  const result = await feedAndAccount(scenario, stack.description(), lines);
  if (!once) {
    for (const line of result.closing) print(line);
    showCommands(`. ${relative(process.cwd(), running.envFile)}`);
    scenario.show = createArrivalLines(print);
    watchBreakers(stack.description().admin['delivery-worker'] ?? '');
  }
  await untilProjected(stack.description().admin['query-api']);
  await showQueries(stack);
  if (!once) return undefined;
  await stop(running);
  return endOnce(result, dataDir);
}

/**
 * Prints the balance as the last line and returns it as exit code. The data folder is retained when the delivery account does not balance.
 */
function endOnce({ accepted, balanced, strangers, closing }: Balance, dataDir: string): number {
  // This folder had no earlier run whose deliveries may still arrive, so a stranger is a wrong delivery.
  const isExact = balanced && strangers === 0;
  if (isExact) rmSync(dataDir, { recursive: true, force: true });
  else print(unbalancedLine(accepted, dataDir));
  for (const line of closing) print(line);
  return isExact ? 0 : 1;
}

async function main(): Promise<number> {
  const { once, help, eventsFile } = readArguments(process.argv.slice(2));
  if (help) {
    print(USAGE);
    return 0;
  }
  const running: Running = { lost: Promise.withResolvers() };
  const stopped = onceEmitted(untilSignal(), 'abort').then(() => {
    print('· stopping; attempts under way may take 30 s');
    return 130;
  });
  const ended = Promise.race([stopped, running.lost.promise]);
  try {
    const shown = demonstrate(once, eventsFile, running).catch((fault: unknown) => {
      // Whatever writes first fails when the data folder is deleted; a moment later that is noticed.
      if (running.stack === undefined || existsSync(DATA_DIR)) throw fault;
      return running.lost.promise;
    });
    // After a signal, a call that fails because the stack stops is not an error.
    const code = await Promise.race([ended, shown]);
    return code ?? (await ended);
  } finally {
    await stop(running);
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
