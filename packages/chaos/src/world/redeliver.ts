import { setTimeout as delay } from 'node:timers/promises';
import { NotNow } from '../fault.js';
import { planConfigurations } from './configurations.js';
import { isServiceAway } from './unavailable.js';
import type { World } from './world.js';

/** A job that sends deliveries again, as it was begun. */
export interface BegunRedelivery {
  readonly id: string;
  readonly tenantId: string;
}

/** Deliveries a second of a job, which is also the size of a page: one of 10 s has several. */
export const REDELIVERIES_PER_SECOND = 20;
const LAST_MS = 10_000;
/** Who died leaves a job to the next for 30 s; then it goes on for some more. */
const COMPLETED_MS = 120_000;
const LOOK_MS = 250;

/** What is sent again: deliveries of an endpoint that is always well, so that the log is not in two minds about them. */
function findConfiguration() {
  const found = planConfigurations().find(
    ({ tenantId, receiver, treatment }) =>
      tenantId === 'acme' && receiver === 'steady' && treatment === 'left-alone',
  );
  if (!found) throw new Error('expected a configuration that nothing is done to');
  return found;
}

async function untilCompleted(world: World, { id, tenantId }: BegunRedelivery): Promise<void> {
  const client = world.clientOf(tenantId);
  const deadline = performance.now() + COMPLETED_MS;
  for (;;) {
    // It may be away at the moment; that it does not come back is told by the deadline.
    const state = await client.redelivery(id).then(
      (job) => job.state,
      (error: unknown) => String(error),
    );
    if (state === 'completed') return;
    if (performance.now() > deadline)
      throw new Error(`the redelivery ${id} was not completed in ${COMPLETED_MS / 1_000} s: ${state}`);
    await delay(LOOK_MS);
  }
}

/** The moment of the newest delivery that the log has, Unix milliseconds. Throws `NotNow` when it has none. */
async function findNewest(world: World, tenantId: string, ref: string): Promise<number> {
  const { data } = await world.clientOf(tenantId).deliveries({ ref, status: 'delivered', limit: 1 });
  const [newest] = data;
  if (!newest) throw new NotNow('nothing was delivered yet');
  return Date.parse(newest.createdAt);
}

/**
 * Begins a job that sends again what was delivered in the last seconds of which the log tells: there is always something.
 * Throws `NotNow` when query-api is away.
 */
export async function beginRedelivery(
  world: World,
): Promise<{ readonly untilCompleted: () => Promise<void> }> {
  const { tenantId, ref } = findConfiguration();
  try {
    const from = new Date((await findNewest(world, tenantId, ref)) - LAST_MS).toISOString();
    const { id } = await world.clientOf(tenantId).startRedelivery({ ref, status: 'delivered', from });
    const begun = { id, tenantId };
    world.redeliveries.push(begun);
    return { untilCompleted: () => untilCompleted(world, begun) };
  } catch (error) {
    if (!isServiceAway(error)) throw error;
    throw new NotNow(`no redelivery was begun: ${String(error)}`);
  }
}
