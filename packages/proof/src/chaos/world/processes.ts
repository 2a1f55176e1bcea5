import { eventually } from '@webhooks/testkit';
import { STALLED_MS } from '@webhooks/testkit/account';
import { NotNow } from '../plan.js';
import { LINKS } from './world.js';
import type { World } from './world.js';

/** Everything that a fault may hit; the runner and its receivers stay, as the world outside does. */
export const PROCESSES = [...LINKS, 'kafka'] as const;

/** Ids of the processes that run now, by name. The stack lists no process that has ended: its id may be somebody else's. */
export const whatRuns = ({ stack }: World): ReadonlyMap<string, number> => {
  const ids = Object.entries(stack.description().processes);
  return new Map(ids.filter(([name]) => PROCESSES.some((one) => one === name)));
};

/** The id of a running process. Throws `NotNow` while it is being started. */
export function runningId(world: World, name: string): number {
  const pid = whatRuns(world).get(name);
  if (pid === undefined) throw new NotNow(`${name} is being started`);
  return pid;
}

/** Sends a signal to a running process; a SIGKILL is noted in the world's list. */
export function signalProcess(world: World, name: string, signal: NodeJS.Signals): void {
  process.kill(runningId(world, name), signal);
  if (signal === 'SIGKILL') world.killed.push(name);
}

/** Resolves when each of these runs with another id than before and, as the stack says, is ready; rejects after 120 s. */
export async function untilBack(world: World, before: ReadonlyMap<string, number>): Promise<void> {
  const check = (): void => {
    const now = whatRuns(world);
    const missing = [...before].filter(([name, pid]) => (now.get(name) ?? pid) === pid);
    if (missing.length > 0) throw new Error(missing.map(([name]) => name).join(', '));
  };
  const message = 'what was hit is back, but these are not';
  await eventually(check, { timeoutMs: STALLED_MS, message });
}
