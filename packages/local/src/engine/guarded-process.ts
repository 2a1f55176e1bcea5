import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { lastLines } from './command.js';
import { RESPONSE_DEADLINE_MS } from './wait.js';

export interface GuardedProcessOptions {
  readonly cwd: string;
  /** File to which the output of the process is appended. */
  readonly logFile: string;
  readonly env: Readonly<Record<string, string>>;
}

// The shell forks a guard and then becomes the program (exec), so the program has the id of the spawned child. The guard waits on
// descriptor 3, a pipe whose other end only the parent holds. A line means that the program has ended: the guard exits. End of file means
// that the parent has ended, also by kill -9: the guard ends the program.
const GUARD = `
( trap '' TERM INT HUP
  if read -r line <&3; then exit 0; fi
  kill -TERM $$ 2>/dev/null
  tries=0
  while kill -0 $$ 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL $$ 2>/dev/null
) </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-
`;

/** Watches a child process, which has started, and can stop it. */
export function watchEnd(child: ChildProcess) {
  let reason: string | undefined;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      reason = signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
      resolve();
    });
  });
  return {
    /** Resolves when the process has ended. */
    exited,
    /** Why the process has ended, in words; undefined while it runs. */
    exitReason: () => reason,
    /** Sends SIGTERM, and SIGKILL at the deadline, default 15 s. Resolves when the process has ended. */
    stop: async (deadlineMs = RESPONSE_DEADLINE_MS): Promise<void> => {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
      await exited;
      clearTimeout(force);
    },
  };
}

/**
 * Starts a process that cannot outlive this one. Ctrl-C does not reach its process group, so the caller has to stop it. Throws when there
 * is no shell.
 */
export function spawnGuarded(command: string, args: readonly string[], options: GuardedProcessOptions) {
  const logDescriptor = openSync(options.logFile, 'a');
  const logStart = fstatSync(logDescriptor).size;
  const child = spawn('sh', ['-c', GUARD, 'sh', command, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    detached: true,
    stdio: ['ignore', logDescriptor, logDescriptor, 'pipe'],
  });
  closeSync(logDescriptor);
  child.on('error', () => undefined); // a missing shell: the next line throws
  if (child.pid === undefined) throw new Error(`${command} could not be started: no shell (sh) on the PATH`);
  const guardPipe = child.stdio[3];
  guardPipe?.on('error', () => undefined);

  child.once('exit', () => {
    if (guardPipe && 'end' in guardPipe) guardPipe.end('over\n');
  });
  return {
    ...watchEnd(child),
    pid: child.pid,
    /** The last lines of output since the start. */
    lastWords: async () => lastLines((await readFile(options.logFile)).subarray(logStart).toString()),
    /** SIGKILL. */
    kill: () => void child.kill('SIGKILL'),
  };
}
export type GuardedProcess = ReturnType<typeof spawnGuarded>;
