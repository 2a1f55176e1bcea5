import { monotonicMicros } from '../measure/clock.js';
import { usageOf } from '../measure/process-usage.js';
import { atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { fillConfigurations } from '../world/fill-configurations.js';
import { flood, warmUpFully } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { runReport, workerCpu } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

const TENANT = 'scale';
const WORKER = 'delivery-worker';
/** Ten seconds and more: with a million configurations the heap is collected whole each eleven. */
const EVENTS = 100_000;
const TURNS = 2;
const MIB = 1_048_576;
const COST_TIMES = 1.1;
const LOAD_SECONDS = 60;
const MEMORY_MIB = 1_024;

/** A worker that reads all configurations at its start; gives the seconds until it is ready and its memory then. */
async function restartWorker({
  stack,
}: World): Promise<{ readonly seconds: number; readonly rssBytes: number }> {
  await stack.fleet.stop(WORKER);
  const startedAt = monotonicMicros();
  const { pid } = await stack.fleet.start(WORKER);
  return { seconds: (monotonicMicros() - startedAt) / 1_000_000, rssBytes: usageOf(pid).rssBytes };
}

interface Step {
  readonly configurations: number;
  readonly ten: number | undefined;
}

/** Returns the worker's CPU for each delivery. */
async function measureStep(
  stage: Stage,
  world: World,
  endpoints: readonly BenchEndpoint[],
  { configurations, ten }: Step,
): Promise<number | undefined> {
  const name = `${configurations.toLocaleString('en-US')} configurations`;
  return stage.run(name, async () => {
    const started = await restartWorker(world);
    await warmUpFully(world, [endpoints], EVENTS);
    const results = [];
    for (let turn = 0; turn < TURNS; turn += 1) results.push(await flood(world, endpoints, EVENTS));
    const cost = results.reduce((sum, result) => sum + workerCpu(result), 0) / TURNS;
    const times: readonly Figure[] =
      ten === undefined
        ? []
        : [{ name: 'times the cost with 10', value: cost / ten, unit: '×', bar: atMost(COST_TIMES) }];
    const last = results.at(-1);
    if (!last) return undefined;
    const million = configurations > 100_000;
    const peak = Math.max(
      ...last.usage.filter(({ name: process }) => process === WORKER).map(({ peakBytes }) => peakBytes),
    );
    const report = runReport(name, last, [
      {
        name: 'from the start of the process until it is ready',
        value: started.seconds,
        unit: 's',
        bar: atMost(LOAD_SECONDS),
      },
      { name: 'memory when it is ready', value: started.rssBytes / MIB, unit: 'MiB' },
      { name: 'CPU of the worker for each delivery', value: cost, unit: 'µs' },
      ...times,
    ]);
    const memory: Figure = {
      name: 'memory of delivery-worker, at most',
      value: peak / MIB,
      unit: 'MiB',
      bar: atMost(MEMORY_MIB),
    };
    const figures = report.figures.filter(({ worstOnly }) => worstOnly !== true);
    stage.report(million ? { ...report, figures: [...figures, memory] } : report);
    return cost;
  });
}

/** More and more configurations of other tenants; those of the one that gets the events stay the same. */
async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  const endpoints = await registerEndpoints(world, [{ path: '/scale', tenantId: TENANT }]);
  // It would look at every record of the topic, too; it is not what is measured.
  await world.stack.fleet.stop('config-api');
  const steps = [10, 1_000, 100_000, 1_000_000].filter((step) => step <= stage.sizes.count);
  let [known, ten]: [number, number | undefined] = [1, undefined];
  for (const configurations of steps) {
    await fillConfigurations(world.stack.description().kafkaBrokers, known, configurations);
    known = configurations;
    const cost = await measureStep(stage, world, endpoints, { configurations, ten });
    ten ??= cost;
  }
}

export const scaleConfigurations: Scenario = {
  title: '10 … configurations of other tenants; count: the most of them',
  usual: { count: 100_000, seconds: 0 },
  whole: { count: 1_000_000, seconds: 0 },
  measure,
};
