import { monotonicMicros } from '../measure/clock.js';
import { figure } from '../report.js';
import type { Scenario, Stage } from '../scenario.js';
import { flood } from '../world/run.js';
import { registerFanOut } from '../world/world.js';
import { showRuns, workerCpu } from './run-report.js';

const TENANT = 'backlog';
const WORKER = 'delivery-worker';

/** Events wait on the topic and a worker is started cold: nothing is compiled, no connection is open. */
async function measure(stage: Stage): Promise<void> {
  const { count } = stage.sizes;
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  const endpoints = await registerFanOut(world, TENANT, 1);
  const { fleet } = world.stack;
  await stage.run(`${count.toLocaleString('en-US')} events waiting, worker started cold`, async () => {
    await fleet.stop(WORKER);
    let startedAt = 0;
    const result = await flood(world, endpoints, count, {
      meanwhile: async (sent) => {
        await sent;
        startedAt = monotonicMicros();
        await fleet.start(WORKER);
      },
    });
    const { ledger, totals } = result;
    const [firstAt = NaN, lastAt = NaN] = [ledger.arrivals().at(0), ledger.arrivals().at(-1)];
    return showRuns(
      [result],
      [
        figure('from the start of the process to the first delivery', (firstAt - startedAt) / 1_000_000, 's'),
        figure(
          'deliveries each second from then on',
          (totals.delivered * 1_000_000) / (lastAt - firstAt),
          '1/s',
        ),
        figure('CPU of the worker for each delivery, start included', workerCpu([result]), 'µs'),
      ],
    );
  });
}

export const backlog: Scenario = {
  title: 'events wait in the topic, the worker is started cold; count: events',
  usual: { count: 100_000, seconds: 0 },
  whole: { count: 1_000_000, seconds: 0 },
  measure,
};
