import { monotonicMicros } from '../measure/clock.js';
import { atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { fillWaiting } from '../world/fill-waiting.js';
import { flood, warmUp } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { runReport, workerCpu } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

const TENANT = 'waiting';
const WORKER = 'delivery-worker';
const EVENTS = 25_000;
const TURNS = 2;
const COST_TIMES = 1.2;

/** A fresh worker in both cases, so that neither has the better compiled code. Returns its CPU for each delivery. */
async function measureWith(
  stage: Stage,
  world: World,
  endpoints: readonly BenchEndpoint[],
  { waiting, none }: { readonly waiting: number; readonly none?: number | undefined },
): Promise<number | undefined> {
  const name = `${waiting.toLocaleString('en-US')} retries waiting`;
  return stage.run(name, async () => {
    await world.stack.fleet.stop(WORKER);
    const startedAt = monotonicMicros();
    await world.stack.fleet.start(WORKER);
    const readySeconds = (monotonicMicros() - startedAt) / 1_000_000;
    await warmUp(world, endpoints);
    const results = [];
    for (let turn = 0; turn < TURNS; turn += 1) results.push(await flood(world, endpoints, EVENTS));
    const [last] = results.slice(-1);
    if (!last) return undefined;
    const cost = results.reduce((sum, result) => sum + workerCpu(result), 0) / TURNS;
    const times: readonly Figure[] =
      none === undefined
        ? []
        : [{ name: 'times the cost with none', value: cost / none, unit: '×', bar: atMost(COST_TIMES) }];
    stage.report(
      runReport(name, last, [
        { name: 'from the start of the process until it is ready', value: readySeconds, unit: 's' },
        { name: 'CPU of the worker for each delivery', value: cost, unit: 'µs' },
        ...times,
      ]),
    );
    return cost;
  });
}

async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  const endpoints = await registerEndpoints(world, [{ path: '/waiting', tenantId: TENANT }]);
  const none = await measureWith(stage, world, endpoints, { waiting: 0 });
  const [endpoint] = endpoints;
  if (!endpoint) return;
  await fillWaiting(world.stack.description().kafkaBrokers, endpoint, stage.sizes.count);
  await measureWith(stage, world, endpoints, { waiting: stage.sizes.count, none });
}

export const waiting: Scenario = {
  title: 'cost of a delivery while retries wait in the long tiers, against none; count: waiting retries',
  usual: { count: 100_000, seconds: 0 },
  whole: { count: 1_000_000, seconds: 0 },
  measure,
};
