import { setTimeout as delay } from 'node:timers/promises';
import { TOPICS } from '@webhooks/contracts';
import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import type { World } from '../world/world.js';
import { WORKERS, startWorker } from '../world/workers.js';
import { withAdmin } from '../world/kafka-tools.js';
import { isBrokerAway, isGroupNotEmpty } from '../world/unavailable.js';

/** Group of the workers → the topic that it reads. Kafka changes offsets only of a group without members. */
const TOPIC_OF: Readonly<Record<string, string>> = {
  'delivery-worker.events': TOPICS.events,
  'delivery-worker.deliveries': TOPICS.deliveries,
};

/** A member that was killed belongs to its group for 10 s more. */
const GHOST_MS = 20_000;
const LOOK_MS = 500;

async function startAll(world: World): Promise<void> {
  for (const name of WORKERS) await startWorker(world, name);
}

/** Asks again until the group has no members any more, killed ones included. */
async function resetGroup(groupId: string, { stack }: World): Promise<void> {
  const topic = TOPIC_OF[groupId] ?? '';
  const deadline = performance.now() + GHOST_MS;
  for (;;)
    try {
      await withAdmin(stack, (admin) => admin.resetOffsets({ groupId, topic, earliest: true }));
      return;
    } catch (error) {
      if (!isGroupNotEmpty(error) && !isBrokerAway(error)) throw error;
      if (performance.now() > deadline) throw new NotNow(String(error));
      await delay(LOOK_MS);
    }
}

/** All workers end, the group goes back to the beginning, and they start again: all is sent once more (F20). */
const resetOffsets: Fault = {
  name: 'reset-offsets',
  lane: 'system',
  weight: 1,
  targets: ['delivery-worker.events', 'delivery-worker.deliveries'],
  lasts: [0, 0],
  alone: true,
  begin: async (groupId, world) => {
    await Promise.all(WORKERS.map((name) => world.stack.fleet.stop(name)));
    try {
      await resetGroup(groupId, world);
    } catch (error) {
      await startAll(world);
      throw error;
    }
    return () => startAll(world);
  },
};

export default resetOffsets;
