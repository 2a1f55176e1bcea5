import { errorText } from '../engine/error-text.js';
import { untilClear, type Patience } from '../engine/poll.js';
import { quietKafka } from './quiet-kafkajs.js';

/**
 * Waits until the broker at `address` ("host:port") serves: metadata lists the broker and a controller, and the
 * controller would create a topic (a request with `validateOnly`). An open port alone says nothing.
 * Answers undefined, or why it does not serve when the deadline has passed.
 */
export const awaitBroker = (address: string, patience: Patience): Promise<string | undefined> =>
  untilClear(() => obstacleOf(address), patience);

async function obstacleOf(address: string): Promise<string | undefined> {
  const admin = quietKafka([address]).admin();
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
