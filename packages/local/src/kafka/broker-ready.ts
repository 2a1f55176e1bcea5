import { errorText } from '../engine/error-text.js';
import { untilClear, type PollOptions } from '../engine/poll.js';
import { createUnloggedKafka } from './unlogged-kafkajs.js';

/**
 * Waits until the broker at `address` ("host:port") serves: metadata lists the broker and a controller, and the
 * controller would create a topic (a request with `validateOnly`). An open port alone says nothing.
 * Answers undefined, or why it does not serve when the deadline has passed.
 */
export const awaitBroker = (address: string, pollOptions: PollOptions): Promise<string | undefined> =>
  untilClear(() => obstacleOf(address), pollOptions);

async function obstacleOf(address: string): Promise<string | undefined> {
  const admin = createUnloggedKafka([address]).admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    if (cluster.brokers.length === 0 || cluster.controller === null) return 'no broker or no controller yet';
    const topics = [{ topic: 'ready', numPartitions: 1, replicationFactor: 1 }];
    await admin.createTopics({ validateOnly: true, waitForLeaders: false, topics });
    return undefined;
  } catch (error) {
    return errorText(error);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}
