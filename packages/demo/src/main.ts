import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { paint, setStage } from '@webhooks/ledger';
import type { Balance, Stage } from '@webhooks/ledger';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import { writeEnvFile } from './env-script.js';
import { USAGE, readArguments } from './read-arguments.js';
import type { DemoArguments } from './read-arguments.js';
import { readEventsFile } from './read-events-file.js';
import { feedAndAccount } from './run-demo.js';
import { showAddresses, showCommands, showFaults, unbalancedLine } from './show.js';
import { showTruth } from './show-truth.js';
import { untilProjected } from './until-projected.js';
import { watchBreakers } from './watch-breakers.js';

const { isTTY } = process.stdout;
/** Erases the progress line that a terminal shows. */
const ERASE = isTTY ? '\x1b[K' : '';
const print = (line: string): void => {
  process.stdout.write(`${ERASE}${line}\n`);
};
/** On a terminal the next line overwrites this one. */
const showProgress = (line: string): void => {
  process.stdout.write(isTTY ? `${ERASE}${line}\r` : `${line}\n`);
};

const STOPPING = '· stopping; attempts under way may take 10 s';
const DATA = join(import.meta.dirname, '..', '..', '..', '..', '.data');

/** Resolves at the first signal; a second one ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        resolve();
      });
    }
  });
}

interface Stopping {
  readonly asked: Promise<void>;
  /** The signal came before the demonstration was over. */
  isEarly?: boolean;
  /** The demonstration is over, and it waits for the signal. */
  stayUp: boolean;
  /** Stopped in order when the signal comes earlier. */
  stack?: Stack;
  /** Names the addresses of this stack; removed when the stack stops. */
  envFile?: string;
}

/** Stops what runs; the file with its addresses goes first. */
async function end({ stack, envFile }: Stopping): Promise<void> {
  if (envFile !== undefined) rmSync(envFile, { force: true });
  await stack?.stop();
}

async function stopEarly(stopping: Stopping): Promise<number> {
  stopping.isEarly = true;
  print(STOPPING);
  await end(stopping);
  return 130;
}

/** Shows how to use the stack, and from then on arrivals and breakers. */
function showUse(stack: Stack, { receivers }: Balance, envFile: string): void {
  showCommands(`. ${relative(process.cwd(), envFile)}`, print);
  receivers.showArrivals(print);
  watchBreakers(stack.description().admin['delivery-worker'] ?? '', print);
}

/** Shows the part that reads from query-api. While query-api is behind, the stack can be used already. */
async function showQueries(stack: Stack, use: () => void): Promise<void> {
  await untilProjected(stack.description().admin['query-api'] ?? '', { showProgress, onBehind: use });
  await showTruth(stack, print);
}

/** Stays up until a signal comes. */
async function stayUp(stack: Stack, result: Balance, stopping: Stopping): Promise<void> {
  let isShown = false;
  const use = (): void => {
    if (!isShown) showUse(stack, result, stopping.envFile ?? '');
    isShown = true;
  };
  await showQueries(stack, use);
  for (const line of result.closing) print(line);
  print('');
  use();
  stopping.stayUp = true;
  await stopping.asked;
  print(STOPPING);
}

async function demonstrate(
  { once, eventsFile }: Pick<DemoArguments, 'once' | 'eventsFile'>,
  stopping: Stopping,
): Promise<number> {
  const lines = await readEventsFile(eventsFile);
  const dataDir = once ? join(DATA, `once-${process.pid}`) : DATA;
  mkdirSync(dataDir, { recursive: true });
  const tenants = [...new Set(lines.flatMap(({ event }) => event?.tenantId ?? []))];
  const started = performance.now();
  print('· starting Kafka, MongoDB, token issuer and services');
  const log = (line: string): void => print(`· ${line}`);
  const stack = await startStack({ dataDir, fixedPorts: !once, tenants, log });
  stopping.stack = stack;
  let stage: Stage | undefined;
  let result: Balance;
  try {
    print(paint('green', `· everything is up after ${((performance.now() - started) / 1_000).toFixed(1)} s`));
    showFaults(lines, print);
    stage = await setStage({ stack, lines, dataDir, fixedPorts: !once, print });
    const { origin } = stage.receivers.willing;
    // Before the events are fed: from here on other terminals can use the stack.
    stopping.envFile = writeEnvFile(dataDir, stack.description(), origin);
    if (!once) showAddresses(stack.description(), origin, dataDir, print);
    result = await feedAndAccount(stage, { stack, lines, print });
    if (once) await showQueries(stack, () => undefined);
    else await stayUp(stack, result, stopping);
  } finally {
    await stage?.receivers.close();
    await end(stopping);
  }
  return once ? endOnce(result, dataDir) : 0;
}

/** Prints the balance as the last line and returns it as exit code. The data folder is kept when the ledger does not balance. */
function endOnce({ balanced, closing, ledger }: Balance, dataDir: string): number {
  if (balanced) rmSync(dataDir, { recursive: true, force: true });
  else print(unbalancedLine(ledger.totals().accepted, dataDir));
  for (const line of closing) print(line);
  return balanced ? 0 : 1;
}

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2));
  if (given.help) {
    print(USAGE);
    return 0;
  }
  const stopping: Stopping = { asked: untilSignal(), stayUp: false };
  const work = demonstrate(given, stopping);
  const stopped = stopping.asked.then(() => (stopping.stayUp ? work : stopEarly(stopping)));
  // A call that fails because the stack stops is no fault.
  const finished = work.catch((error: unknown) => {
    if (stopping.isEarly) return stopped;
    throw error;
  });
  return Promise.race([finished, stopped]);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
