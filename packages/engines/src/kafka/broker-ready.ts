import { errorText } from '../error-text.js';
import { pollUntil } from '../poll.js';
import { quietKafka } from './quiet-kafkajs.js';

export interface ReadyOptions {
  readonly deadlineMs: number;
  /** True when waiting makes no sense any more, e.g. because the process has ended. */
  readonly givenUp?: () => boolean;
}

/**
 * Waits until the broker at `address` ("host:port") serves: metadata lists the broker and a controller, and the
 * controller would create a topic (a request with `validateOnly`). An open port alone says nothing.
 * Answers undefined, or why it does not serve when the deadline has passed.
 */
export async function awaitBroker(
  address: string,
  { deadlineMs, givenUp = () => false }: ReadyOptions,
): Promise<string | undefined> {
  let obstacle: string | undefined;
  await pollUntil(
    async () => {
      obstacle = await obstacleOf(address);
      return obstacle === undefined || givenUp();
    },
    { deadlineMs },
  );
  return obstacle;
}

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
