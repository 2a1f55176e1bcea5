import { monotonicMicros } from '../measure/clock.js';
import type { RunResult } from '../world/run-plan.js';
import { flood } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import { runReport, workerCpu } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

const TENANT = 'backlog';
const WORKER = 'delivery-worker';

function firstDeliveryAt({ ledger }: RunResult): number {
  let first = Infinity;
  for (const { firstByteAt = Infinity } of ledger.pairs()) first = Math.min(first, firstByteAt);
  return first;
}

/** Events wait on the topic and a worker is started cold: nothing is compiled, no connection is open. */
async function measure(stage: Stage): Promise<void> {
  const { count } = stage.sizes;
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  const endpoints = await registerEndpoints(world, [{ path: '/backlog', tenantId: TENANT }]);
  const { fleet } = world.stack;
  const run = `${count.toLocaleString('en-US')} events waiting, worker started cold`;
  await stage.run(run, async () => {
    await fleet.stop(WORKER);
    let startedAt = 0;
    const result = await flood(world, endpoints, count, {
      batch: 1_000,
      afterwards: async () => {
        startedAt = monotonicMicros();
        await fleet.start(WORKER);
      },
    });
    const firstAt = firstDeliveryAt(result);
    const seconds = (result.ledger.lastAt - firstAt) / 1_000_000;
    stage.report(
      runReport(run, result, [
        {
          name: 'from the start of the process to the first delivery',
          value: (firstAt - startedAt) / 1_000_000,
          unit: 's',
        },
        {
          name: 'deliveries each second from then on',
          value: result.totals.delivered / seconds,
          unit: '1/s',
        },
        { name: 'CPU of the worker for each delivery, start included', value: workerCpu(result), unit: 'µs' },
      ]),
    );
  });
}

export const backlog: Scenario = {
  title: 'events wait in the topic, the worker is started cold; count: events',
  usual: { count: 100_000, seconds: 0 },
  whole: { count: 1_000_000, seconds: 0 },
  measure,
};
