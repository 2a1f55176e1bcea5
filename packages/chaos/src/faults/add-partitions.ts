import { TOPICS } from '@webhooks/contracts';
import type { Fault } from '../fault.js';
import { withAdmin } from '../world/kafka-tools.js';

const MORE = 2;

/** Two partitions more, as an operator does who scales out. They stay. */
const addPartitions: Fault = {
  name: 'add-partitions',
  lane: 'system',
  weight: 1,
  targets: [TOPICS.events, TOPICS.deliveries, TOPICS.attempts, 'webhooks.retries.1s'],
  lasts: [0, 0],
  begin: async (topic, { stack }) => {
    await withAdmin(stack, async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      const count = (topics[0]?.partitions.length ?? 0) + MORE;
      await admin.createPartitions({ topicPartitions: [{ topic, count }] });
    });
    return () => Promise.resolve();
  },
};

export default addPartitions;
