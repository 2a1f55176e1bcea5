import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { untilClear } from '../engine/wait.js';
import { lastLines } from '../engine/command.js';
import { watchEnd } from '../engine/guarded-process.js';

const MAX_WORDS = 3;
const MAX_LENGTH = 500;

/** The message of a log line of level error; undefined for any other line. */
function errorOf(line: string): string | undefined {
  try {
    const { level, message, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (level !== 'error') return undefined;
    return [message, error].filter((part) => typeof part === 'string').join(': ');
  } catch {
    // Not JSON: Node prints such lines when a process crashes.
    return undefined;
  }
}

/**
 * Returns why a service ended: the last three errors in its log, else its last line; at most 500 characters. Reads from byte `from`,
 * because earlier processes wrote to the same file.
 */
export function lastWords(logFile: string, from: number): string {
  const log = readFileSync(logFile).subarray(from).toString();
  const errors = log
    .split('\n')
    .map(errorOf)
    .filter((error) => error !== undefined);
  const words = errors.length > 0 ? errors.slice(-MAX_WORDS).join('; ') : lastLines(log, 1);
  return (words === '' ? 'its log is empty' : words).slice(0, MAX_LENGTH);
}

const CHECKOUT = join(import.meta.dirname, '..', '..', '..', '..', '..');
const READY_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 60_000;

export interface ServiceOptions {
  /** Name of this process in logs. */
  readonly name: string;
  /** The service's folder below `services`. */
  readonly program: string;
  readonly adminPort: number;
  readonly env: Readonly<Record<string, string>>;
  /** Everything the service prints is appended here. */
  readonly logFile: string;
  /** Root of the built checkout whose service is started; default: this one. */
  readonly checkout?: string | undefined;
  /** Aborts when the service is no longer needed, and so ends the wait. */
  readonly abandoned?: AbortSignal;
}

async function isReady(adminPort: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`, {
      signal: AbortSignal.timeout(1_000),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Resolves when the service is ready. Rejects when it has ended, is abandoned, or is not ready within 90 s. */
async function untilReady(
  { name, adminPort, logFile, abandoned }: ServiceOptions,
  logStart: number,
  child: ChildProcess,
  hasEnded: () => string | undefined,
): Promise<void> {
  let isListening = false;
  child.once('message', () => (isListening = true));
  // Before the child listens, another program may answer at its port.
  const obstacleOf = async () =>
    isListening && (await isReady(adminPort)) ? undefined : 'was not ready after 90 s';
  const isAbandoned = () => hasEnded() !== undefined || abandoned?.aborted === true;
  const obstacle = await untilClear(obstacleOf, { deadlineMs: READY_TIMEOUT_MS, everyMs: 50, isAbandoned });
  if (obstacle === undefined) return;
  abandoned?.throwIfAborted();
  const reason = hasEnded();
  const ended = `ended while starting (${reason ?? ''}): ${lastWords(logFile, logStart)}`;
  throw new Error(`${name} ${reason === undefined ? obstacle : ended}; see ${logFile}`);
}

function forkService({
  program,
  env,
  adminPort,
  logFile,
  checkout = CHECKOUT,
}: ServiceOptions): ChildProcess {
  const entry = join(checkout, 'services', program, 'dist', 'src', 'main.js');
  if (!existsSync(entry)) throw new Error(`${program} is not built: run npm run build`);
  // The entry point of the images, which sets the memory limits of V8 and of the allocator.
  const execPath = join(checkout, 'deploy', 'docker', 'run-node');
  const log = openSync(logFile, 'a');
  const child = fork(entry, {
    env: {
      ...process.env,
      NODE_ENV: 'development',
      NODE_BINARY: process.execPath,
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: String(adminPort),
      ...env,
    },
    execPath,
    execArgv: [],
    // A session of its own: Ctrl-C reaches only the parent, which stops its services in order. The service ends when the parent ends.
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  child.on('error', () => undefined); // it could not be started: the next line throws
  if (child.pid === undefined)
    throw new Error(`${program} could not be started: ${execPath} is not executable`);
  return child;
}

/** Starts a service as a process and waits until it is ready. Throws with the path of its log when it ends before. */
export async function startServiceProcess(options: ServiceOptions) {
  const logStart = existsSync(options.logFile) ? statSync(options.logFile).size : 0;
  const child = forkService(options);
  const { exitReason, stop } = watchEnd(child);
  try {
    await untilReady(options, logStart, child, exitReason);
  } catch (error) {
    await stop(STOP_TIMEOUT_MS);
    throw error;
  }
  return { pid: child.pid ?? 0, exitReason, stop: () => stop(STOP_TIMEOUT_MS) };
}
