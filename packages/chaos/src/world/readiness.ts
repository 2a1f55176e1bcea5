import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { withAdmin } from './kafka-tools.js';
import { BACK_DEADLINE_MS, wasReplaced } from './processes.js';
import type { World } from './world.js';

const LOOK_MS = 100;
const ASK_MS = 2_000;

/** The port at which a service tells operators how it is: in its environment (proc_pid_environ(5)). */
function adminPortOf(pid: number): string | undefined {
  try {
    const settings = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return settings.find((line) => line.startsWith('ADMIN_PORT='))?.slice('ADMIN_PORT='.length);
  } catch {
    return undefined; // it has ended
  }
}

async function isServiceReady(pid: number): Promise<boolean> {
  const port = adminPortOf(pid);
  if (port === undefined) return false;
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(ASK_MS) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

const isBrokerReady = ({ stack }: World): Promise<boolean> =>
  withAdmin(stack, (admin) => admin.listTopics()).then(
    (topics) => topics.length > 0,
    () => false,
  );

/** The database answers when config-api can list what it keeps there. */
const isDatabaseReady = ({ clientOf }: World): Promise<boolean> =>
  clientOf('acme')
    .list()
    .then(
      () => true,
      () => false,
    );

function isReady(world: World, name: string, pid: number): Promise<boolean> {
  if (name === 'kafka') return isBrokerReady(world);
  if (name === 'mongodb') return isDatabaseReady(world);
  return isServiceReady(pid);
}

/** Resolves when the process does its work again, or another one in its place; rejects after 120 s. */
export async function untilReadyOrReplaced(world: World, name: string, pid: number): Promise<void> {
  const deadline = performance.now() + BACK_DEADLINE_MS;
  while (!wasReplaced(world, name, pid) && !(await isReady(world, name, pid))) {
    if (performance.now() > deadline)
      throw new Error(`${name} was not ready again within ${BACK_DEADLINE_MS / 1_000} s`);
    await delay(LOOK_MS);
  }
}
