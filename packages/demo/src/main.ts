import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import { USAGE, readArguments } from './read-arguments.js';
import { readEventsFile } from './read-events-file.js';
import { runDemo } from './run-demo.js';
import { showAddresses } from './show.js';
import { showTruth } from './show-truth.js';

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const STOPPING = '· stopping; attempts under way may take up to 10 s';
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
  /** The demonstration is over: the signal is what it waits for. */
  stayUp: boolean;
  /** Stops what runs, in order, when the signal comes earlier. */
  stack?: Stack;
}

async function stopEarly({ stack }: Stopping): Promise<number> {
  print(STOPPING);
  await stack?.stop();
  return 130;
}

async function demonstrate(once: boolean, eventsFile: string, stopping: Stopping): Promise<number> {
  const lines = await readEventsFile(eventsFile);
  const dataDir = once ? join(DATA, `once-${process.pid}`) : DATA;
  mkdirSync(dataDir, { recursive: true });
  const tenants = [...new Set(lines.flatMap(({ event }) => event?.tenantId ?? []))];
  const started = performance.now();
  print('· starting Kafka, MongoDB, token issuer and services');
  const stack: Stack = await startStack({
    dataDir,
    fixedPorts: !once,
    tenants,
    log: (line) => print(`· ${line}`),
  });
  stopping.stack = stack;
  try {
    print(`· everything is up after ${((performance.now() - started) / 1_000).toFixed(1)} s`);
    const result = await runDemo({ stack, lines, dataDir, fixedPorts: !once, print });
    await showTruth(stack, print);
    const [first, last] = result.closing;
    if (!once) {
      print(first);
      print(`${last}\n`);
      showAddresses(stack.description(), result.receivers.willing.origin, dataDir, print);
      result.receivers.showArrivals(print);
      stopping.stayUp = true;
      await stopping.asked;
      print(STOPPING);
    }
    await result.receivers.close();
    await stack.stop();
    if (!once) return 0;
    if (result.balanced) rmSync(dataDir, { recursive: true, force: true });
    else print(`· the ledger does not balance; everything is kept in ${dataDir}`);
    print(first);
    print(last);
    return result.balanced ? 0 : 1;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function main(): Promise<number> {
  const { once, eventsFile, help } = readArguments(process.argv.slice(2));
  if (help) {
    print(USAGE);
    return 0;
  }
  const stopping: Stopping = { asked: untilSignal(), stayUp: false };
  const work = demonstrate(once, eventsFile, stopping);
  return Promise.race([work, stopping.asked.then(() => (stopping.stayUp ? work : stopEarly(stopping)))]);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
