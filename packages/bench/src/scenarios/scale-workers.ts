import { cpuOf } from '../measure/usage-span.js';
import { flood, warmUp } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import { isSystem, runReport, workerCpu } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

/** Eight endpoints: what one endpoint takes at once does not bound several workers. */
const ENDPOINTS = 8;
const WORKERS = [1, 2, 4];
const tenants = Array.from({ length: ENDPOINTS }, (_, index) => `scale-${index}`);

async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants, ports: ENDPOINTS });
  const endpoints = await registerEndpoints(
    world,
    tenants.map((tenantId) => ({ tenantId, path: `/${tenantId}` })),
  );
  let workers = 1;
  for (const wanted of WORKERS) {
    const name = `${wanted} ${wanted === 1 ? 'worker' : 'workers'}`;
    await stage.run(name, async () => {
      for (; workers < wanted; workers += 1)
        await world.stack.fleet.startMore({
          name: `delivery-worker-${workers + 1}`,
          like: 'delivery-worker',
        });
      await warmUp(world, endpoints);
      const result = await flood(world, endpoints, stage.sizes.count);
      stage.report(
        runReport(name, result, [
          { name: 'deliveries each second', value: result.totals.delivered / result.seconds, unit: '1/s' },
          { name: 'CPU of all workers for each delivery', value: workerCpu(result), unit: 'µs' },
          {
            name: 'cores that the system had',
            value: cpuOf(result.usage, isSystem) / (result.seconds * 1_000_000),
            unit: '',
          },
        ]),
      );
    });
  }
}

export const scaleWorkers: Scenario = {
  title: '1, 2 and 4 workers share the 12 partitions; count: events',
  usual: { count: 30_000, seconds: 0 },
  whole: { count: 300_000, seconds: 0 },
  measure,
};
