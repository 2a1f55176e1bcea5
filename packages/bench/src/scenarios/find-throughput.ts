import { flood, warmUp } from '../world/flood.js';
import type { BenchEndpoint, World } from '../world/world.js';
import type { Stage } from './scenario.js';

const PROBE_EVENTS = 20_000;

/** Events a second that one worker takes with one endpoint for each: from `throughput` of the same run, or from a short flood. */
export async function findThroughput(
  stage: Stage,
  world: World,
  endpoints: readonly BenchEndpoint[],
): Promise<number> {
  await warmUp(world, endpoints);
  if (stage.shared.eventsPerSecond === undefined) {
    const { totals, seconds } = await flood(world, endpoints, PROBE_EVENTS);
    stage.shared.eventsPerSecond = totals.delivered / seconds;
    stage.print(`  throughput found: ${stage.shared.eventsPerSecond.toFixed(0)} events/s`);
  }
  return stage.shared.eventsPerSecond;
}
