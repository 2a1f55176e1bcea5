import { ANSWER_DEADLINE_MS } from '../engine/deadline.js';
import { foreignEngine } from '../engine/engine-lifecycle.js';
import { awaitBroker } from './broker-ready.js';
import type { KafkaEngine } from './kafka-engine.js';
import { createUnloggedKafka } from './unlogged-kafkajs.js';

/** For 5 s: a cluster that never had a group makes the topic of groups first. */
const GROUP_RETRIES = 20;

/** The cluster at `addresses` ("host:port,host:port"); throws when no broker of them serves within the deadline. */
export async function useKafkaAddress(
  addresses: string,
  deadlineMs = ANSWER_DEADLINE_MS,
): Promise<KafkaEngine> {
  const brokers = addresses
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  const obstacles = await Promise.all(brokers.map((address) => awaitBroker(address, { deadlineMs })));
  if (!obstacles.includes(undefined)) {
    throw new Error(
      `KAFKA_BROKERS=${addresses}: no broker served within ${deadlineMs / 1_000} s (${obstacles.join('; ')}). ` +
        'Start the cluster, correct the address, or unset KAFKA_BROKERS to use the embedded broker.',
    );
  }
  return { ...foreignEngine('KAFKA_BROKERS'), kind: 'address', brokers };
}

/** The client ids of a consumer group's members. */
export async function membersOf(brokers: readonly string[], groupId: string): Promise<readonly string[]> {
  const admin = createUnloggedKafka(brokers, GROUP_RETRIES).admin();
  try {
    await admin.connect();
    const { groups } = await admin.describeGroups([groupId]);
    return groups.flatMap(({ members }) => members.map(({ clientId }) => clientId));
  } finally {
    await admin.disconnect();
  }
}
