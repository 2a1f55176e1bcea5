import { setTimeout as delay } from 'node:timers/promises';
import { NotNow } from '../fault.js';
import { planConfigurations } from './configurations.js';
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

/** Begins a job that sends again what was delivered in the last seconds. Throws `NotNow` when query-api does not take it. */
export async function beginRedelivery(
  world: World,
): Promise<{ readonly untilCompleted: () => Promise<void> }> {
  const { tenantId, ref } = findConfiguration();
  const from = new Date(Date.now() - LAST_MS).toISOString();
  try {
    const { id } = await world.clientOf(tenantId).startRedelivery({ ref, status: 'delivered', from });
    const begun = { id, tenantId };
    world.redeliveries.push(begun);
    return { untilCompleted: () => untilCompleted(world, begun) };
  } catch (error) {
    throw new NotNow(`no redelivery was begun: ${String(error)}`);
  }
}
