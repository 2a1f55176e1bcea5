import { withDeadline } from '@webhooks/runtime';
import type { Kafka } from './kafkajs/create-kafka.js';
import { faultOf } from './faults.js';
import { groupAccessRequest, topicAccessRequest } from './wire/protocol.js';
import { OFFSETS_DEADLINE_MS } from './limits.js';

/** The codes of operations in access rules (Kafka's `AclOperation`). */
const OPERATIONS = { Read: 3, Write: 4, DescribeConfigs: 10 } as const;
type Operation = keyof typeof OPERATIONS;

/** What a service does in Kafka. */
export interface KafkaAccess {
  /** Operations by topic. `Read` and `Write` include `Describe`. */
  readonly topics: Readonly<Record<string, readonly Operation[]>>;
  /** Consumer groups to `Read`. */
  readonly groups: readonly string[];
}

/** The broker supports no access rules, or does not report them. */
const UNKNOWN = -(2 ** 31);
/** Kafka's UNKNOWN_TOPIC_OR_PARTITION. */
const UNKNOWN_TOPIC = 3;
/** Kafka's error codes for a topic and a group that this identity may not even see. */
const TOPIC_AUTHORIZATION_FAILED = 29;
const GROUP_AUTHORIZATION_FAILED = 30;

export const MISSING_TOPICS = 'missing topics: ';

interface Seen {
  readonly errorCode: number;
  readonly operations: number;
}

/** Returns the missing rights on a topic or group as a sentence; empty when there are none. */
function missingRights(on: string, wanted: readonly Operation[], { errorCode, operations }: Seen): string[] {
  const isHidden = errorCode === TOPIC_AUTHORIZATION_FAILED || errorCode === GROUP_AUTHORIZATION_FAILED;
  if (!isHidden && (errorCode !== 0 || operations === UNKNOWN)) return [];
  const missing = wanted.filter((operation) =>
    // `Read` and `Write` include seeing it, so both are missing. About `DescribeConfigs` nothing is known.
    isHidden ? operation !== 'DescribeConfigs' : (operations & (1 << OPERATIONS[operation])) === 0,
  );
  return missing.length === 0 ? [] : [`missing right: ${missing.join(' and ')} on ${on}`];
}

/**
 * Requests what this identity may do (KIP-430), and returns each missing right or topic as a sentence. Rejects when
 * the brokers do not respond within 5 s. Writes nothing.
 */
export const findAccessFaults = (kafka: Kafka, access: KafkaAccess): Promise<string[]> =>
  withDeadline(readFaults(kafka, access), OFFSETS_DEADLINE_MS, 'the request for rights');

async function readFaults({ adminConnections }: Kafka, { topics, groups }: KafkaAccess): Promise<string[]> {
  const { cluster } = adminConnections;
  await cluster.connect();
  await cluster.refreshMetadataIfNecessary(); // finds the brokers of groups
  const broker = await cluster.brokerPool.findConnectedBroker();
  const seen = await broker.connectionPool.send(topicAccessRequest(Object.keys(topics)));
  const absent = seen.filter(({ errorCode }) => errorCode === UNKNOWN_TOPIC).map(({ topic }) => topic);
  const seeGroup = async (groupId: string): Promise<Seen> => {
    // By the broker itself: kafkajs' own search would hide that a right is missing.
    const { coordinator } = await broker.findGroupCoordinator({ groupId, coordinatorType: 0 });
    const { connectionPool } = await cluster.findBroker(coordinator);
    return connectionPool.send(groupAccessRequest(groupId));
  };
  const groupFaults = groups.map(async (groupId) =>
    missingRights(`group ${groupId}`, ['Read'], await seeGroup(groupId).catch(toSeen)),
  );
  return [
    ...(absent.length > 0 ? [`${MISSING_TOPICS}${absent.join(', ')}`] : []),
    ...seen.flatMap((one) => missingRights(`topic ${one.topic}`, topics[one.topic] ?? [], one)),
    ...(await Promise.all(groupFaults)).flat(),
  ];
}

/** Returns a missing right as the broker's code. Throws any other error. */
function toSeen(error: unknown): Seen {
  if (faultOf(error).type !== 'GROUP_AUTHORIZATION_FAILED') throw error;
  return { errorCode: GROUP_AUTHORIZATION_FAILED, operations: UNKNOWN };
}
