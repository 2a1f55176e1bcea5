import { usageOf } from '../measure/process-usage.js';
import { atMost } from '../report/figure.js';
import { flood } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import { runReport } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

const TENANT = 'memory';
const WORKER = 'delivery-worker';
const LOOK_MS = 250;
const MIB = 1_048_576;
/** Flat: the last quarter of the time takes at most so much more on average than the second one. */
const GROWTH_MIB = 30;

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Mean of a part of the samples, given as shares of their number. */
const partOf = (samples: readonly number[], from: number, to: number): number =>
  meanOf(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)));

/** Resident memory of the worker, looked at four times a second while events go through. */
async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  const endpoints = await registerEndpoints(world, [{ path: '/memory', tenantId: TENANT }]);
  const run = `${stage.sizes.count.toLocaleString('en-US')} events`;
  await stage.run(run, async () => {
    const samples: number[] = [];
    const pid = world.pids()[WORKER] ?? 0;
    const timer = setInterval(() => samples.push(usageOf(pid).rssBytes / MIB), LOOK_MS);
    try {
      const result = await flood(world, endpoints, stage.sizes.count);
      const [early, late] = [partOf(samples, 0.25, 0.5), partOf(samples, 0.75, 1)];
      stage.report(
        runReport(run, result, [
          { name: 'memory of the worker in the second quarter', value: early, unit: 'MiB' },
          { name: 'memory of the worker in the last quarter', value: late, unit: 'MiB' },
          { name: 'growth between them', value: late - early, unit: 'MiB', bar: atMost(GROWTH_MIB) },
        ]),
      );
    } finally {
      clearInterval(timer);
    }
  });
}

export const memory: Scenario = {
  title: 'memory of the worker while events go through; count: events',
  usual: { count: 60_000, seconds: 0 },
  whole: { count: 1_000_000, seconds: 0 },
  measure,
};
