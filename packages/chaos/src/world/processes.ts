import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { NotNow } from '../fault.js';
import type { World } from './world.js';

/** Processes of services; all but the engines. */
export const SERVICES = [
  'config-api',
  'ingest',
  'delivery-worker',
  'delivery-worker-2',
  'query-api',
] as const;

/** Everything that a fault may hit; the runner and its receivers stay, as the world outside does. */
export const PROCESSES = [...SERVICES, 'kafka', 'mongodb'] as const;

/** Whatever was hit is up again within this time, milliseconds. */
export const BACK_DEADLINE_MS = 120_000;
const LOOK_MS = 50;

/** Parent of a living process; undefined for one that is gone (proc_pid_stat(5): the second field after the name). */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

/** A process id may have been given to somebody else meanwhile: only a child of ours is hit. */
const isOurs = (pid: number | undefined): pid is number => pid !== undefined && parentOf(pid) === process.pid;

const idOf = (world: World, name: string): number | undefined => world.stack.description().processes[name];

/** The id of a running process. Throws `NotNow` while it is being started. */
export function runningId(world: World, name: string): number {
  const pid = idOf(world, name);
  if (!isOurs(pid)) throw new NotNow(`${name} is being started`);
  return pid;
}

/** Ids of those that run now, by name. */
export function whatRuns(world: World, names: readonly string[]): ReadonlyMap<string, number> {
  const ids = names.map((name) => [name, idOf(world, name)] as const);
  return new Map(ids.filter((one): one is readonly [string, number] => isOurs(one[1])));
}

/** Whether another process runs by this name by now. */
export function wasReplaced(world: World, name: string, pid: number): boolean {
  const now = idOf(world, name);
  return now !== pid && isOurs(now);
}

/** Sends a signal to a running process; does nothing when it has ended meanwhile. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  if (isOurs(pid)) process.kill(pid, signal);
}

/** SIGKILL, noted in the world's list. */
export function killProcess(world: World, name: string, pid: number): void {
  signalProcess(pid, 'SIGKILL');
  world.killed.push(name);
}

/** Resolves when each of these runs with another id than before and, as the stack says, is ready; rejects after 120 s. */
export async function untilBack(world: World, before: ReadonlyMap<string, number>): Promise<void> {
  const deadline = performance.now() + BACK_DEADLINE_MS;
  const isMissing = ([name, pid]: readonly [string, number]): boolean => !wasReplaced(world, name, pid);
  for (;;) {
    const missing = [...before].filter(isMissing).map(([name]) => name);
    if (missing.length === 0) return;
    if (performance.now() > deadline)
      throw new Error(`${missing.join(', ')} did not come back within ${BACK_DEADLINE_MS / 1_000} s`);
    await delay(LOOK_MS);
  }
}
