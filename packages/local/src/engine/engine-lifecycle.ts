import { join } from 'node:path';
import { rememberEngine } from './folders.js';
import { READY_DEADLINE_MS } from './wait.js';
import type { PollOptions } from './wait.js';
import { spawnGuarded, type GuardedProcess } from './guarded-process.js';

/** Returns the address in this environment variable; undefined when it is unset or empty. */
export function namedAddress(variable: 'KAFKA_BROKERS' | 'MONGODB_URI'): string | undefined {
  const address = process.env[variable]?.trim() ?? '';
  return address === '' ? undefined : address;
}

export interface EngineLifecycle {
  /** Whether it was started here, as a child process; else its address was given. */
  readonly isEmbedded: boolean;
  /** Undefined while no process runs, and for an engine that was not started here. */
  readonly pid: number | undefined;
  /** Sends SIGTERM, and SIGKILL at the deadline (default 15 s). Does nothing when the engine has ended. */
  stop(deadlineMs?: number): Promise<void>;
  /** SIGKILL, for fault tests. */
  kill(): void;
  /** Stops the engine if it runs, and starts it again: same port, same data. */
  restart(): Promise<void>;
}

/** How an engine is started in its data folder. */
export interface EngineLaunch {
  readonly title: string;
  readonly folder: string;
  /** Name of the file in the folder to which its output is appended. */
  readonly logName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Resolves with undefined when the engine of this process is ready, or with the obstacle: another one may have its port. */
  awaitReady(pollOptions: PollOptions, pid: number): Promise<string | undefined>;
}

/** Starts an engine and resolves when it is ready. If it does not become ready, kills it and throws with the last lines of its log. */
export async function launchEngine(launch: EngineLaunch): Promise<GuardedProcess> {
  const { title, folder: cwd, logName, command, args, env } = launch;
  const logFile = join(cwd, logName);
  const engine = spawnGuarded(command, args, { cwd, logFile, env });
  rememberEngine(cwd, engine.pid);
  const isAbandoned = () => engine.exitReason() !== undefined;
  const obstacle = await launch.awaitReady({ deadlineMs: READY_DEADLINE_MS, isAbandoned }, engine.pid);
  if (obstacle === undefined) return engine;
  const reason = engine.exitReason() ?? `not ready: ${obstacle}`;
  engine.kill();
  await engine.exited;
  throw new Error(`${title} did not start (${reason}; whole log: ${logFile}):\n${await engine.lastWords()}`);
}

/** Runs one engine process at a time. `launch` starts it, and resolves when it is ready. */
export async function superviseEngine(launch: () => Promise<GuardedProcess>): Promise<EngineLifecycle> {
  let current = await launch();
  return {
    isEmbedded: true,
    get pid() {
      return current.exitReason() === undefined ? current.pid : undefined;
    },
    stop: (deadlineMs) => current.stop(deadlineMs),
    kill: () => current.kill(),
    async restart() {
      await current.stop();
      current = await launch();
    },
  };
}

/** The lifecycle of an engine that this environment variable names. `kill` throws and `restart` rejects; `stop` does nothing. */
export function externalEngine(variable: string): EngineLifecycle {
  const refuse = () => {
    throw new Error(`${variable} names this engine: it was not started here, so it cannot be stopped here`);
  };
  return {
    isEmbedded: false,
    pid: undefined,
    stop: () => Promise.resolve(),
    kill: refuse,
    restart: () => Promise.resolve().then(refuse),
  };
}
