import { NOISY, QUIET, measureChanges } from './overload-changes.js';
import { EVENTS_TENANT, measureEvents } from './overload-events.js';
import type { Scenario, Stage } from './scenario.js';

/** Nothing is delivered: a worker would only take CPU time from what is measured. `memory` floods that one. */
async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [QUIET, ...NOISY, EVENTS_TENANT], ports: 1 });
  await world.stack.fleet.stop('delivery-worker');
  await measureChanges(stage, world);
  await measureEvents(stage, world);
}

export const overload: Scenario = {
  title:
    'ten times the changes that config-api can make, and events for ingest while its broker stands still; count: changes to find the rate, seconds: of each flood',
  usual: { count: 2_000, seconds: 8 },
  whole: { count: 20_000, seconds: 60 },
  measure,
};
