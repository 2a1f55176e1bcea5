import { TOPICS } from '@webhooks/contracts';
import type { Fault } from '../fault.js';
import type { World } from '../world/world.js';
import { WORKERS, startWorker } from '../world/workers.js';
import { withAdmin } from '../world/kafka-tools.js';

/** Group of the workers → the topic that it reads. Kafka changes offsets only of a group without members. */
const TOPIC_OF: Readonly<Record<string, string>> = {
  'delivery-worker.events': TOPICS.events,
  'delivery-worker.deliveries': TOPICS.deliveries,
};

async function startAll(world: World): Promise<void> {
  for (const name of WORKERS) await startWorker(world, name);
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
    const topic = TOPIC_OF[groupId] ?? '';
    try {
      await withAdmin(world.stack, (admin) => admin.resetOffsets({ groupId, topic, earliest: true }));
    } catch (error) {
      await startAll(world);
      throw error;
    }
    return () => startAll(world);
  },
};

export default resetOffsets;
