import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { PROGRAMS } from '../load/processes.js';
import { counterPath } from '../measure.js';
import type { ObjectCounts } from '../measure.js';
import { figure, showRuns } from '../report.js';
import type { Figure } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { runLoad, throughIngest } from '../world/run.js';
import { registerFanOut, waitForProjections } from '../world/world.js';
import type { World } from '../world/world.js';
import { ratesOf, WARM_UP } from './whole-system.js';

const TENANT = 'objects';
const QUERY_API = 'query-api';
const SERVICES = ['ingest', 'delivery-worker', QUERY_API];

/** Has a service count. That makes promises slower, so CPU times are no figures here. */
const COUNTING = { NODE_OPTIONS: `--import="${join(PROGRAMS, 'object-counter-main.js')}"` };
const DEADLINE_MS = 5_000;

/** Reads the counter of a process and sets it to 0. Rejects when the process has none, or after 5 s. */
async function takeObjectCounts(pid: number): Promise<ObjectCounts> {
  const socket = connect({ path: counterPath(pid), signal: AbortSignal.timeout(DEADLINE_MS) });
  return (await json(socket)) as ObjectCounts;
}

/** What the services made since the last time, for each of `count` events or seconds. */
async function countObjects(world: World, count: number): Promise<readonly Figure[]> {
  const running = Object.entries(world.pids()).filter(([name]) => SERVICES.includes(name));
  const counted = running.map(async ([name, pid]) => {
    const { promises, heapBytes } = await takeObjectCounts(pid);
    return [
      figure(`${name}: promises`, promises / count, ''),
      figure(`${name}: allocated in the heap`, heapBytes / count / 1_000, 'kB'),
    ];
  });
  return (await Promise.all(counted)).flat();
}

async function measure({ sizes: { seconds }, openWorld, run }: ScenarioContext): Promise<void> {
  const world = await openWorld({ tenants: [TENANT], ports: 1, withQueryApi: true });
  const { fleet } = world.stack;
  for (const name of SERVICES) {
    await fleet.stop(name);
    await fleet.startReplica({ name, like: name, env: COUNTING });
  }
  const endpoints = await registerFanOut(world, TENANT, 1);
  const target = await throughIngest(world);
  await runLoad(world, endpoints, WARM_UP, { target });
  await waitForProjections(world);
  await run('idle, with query-api', async () => {
    await countObjects(world, 1);
    await delay(1_000 * seconds);
    return { account: 'nothing is sent', figures: await countObjects(world, seconds) };
  });
  const measureRate = (perSecond: number, withQueryApi: boolean) => async () => {
    let figures: readonly Figure[] = [];
    const meanwhile = () => countObjects(world, 1);
    const whenDelivered = async () => {
      if (withQueryApi) await waitForProjections(world);
      figures = await countObjects(world, perSecond * seconds);
    };
    const options = { target, meanwhile, whenDelivered };
    const done = await runLoad(world, endpoints, { perSecond, seconds }, options);
    return { account: showRuns([done], []).account, figures };
  };
  for (const withQueryApi of [true, false]) {
    if (!withQueryApi) await fleet.stop(QUERY_API);
    const beside = withQueryApi ? ', with query-api' : '';
    for (const rate of ratesOf(withQueryApi))
      await run(`${rate} posts a second${beside}`, measureRate(rate, withQueryApi));
  }
}

export const objects: Scenario = {
  title:
    'promises and allocated bytes of the main thread of each service for an event; seconds: idle and each rate',
  usual: { count: 0, seconds: 15 },
  whole: { count: 0, seconds: 60 },
  measure,
};
