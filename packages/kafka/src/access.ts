import type { Kafka } from './kafkajs/create-kafka.js';
import { faultOf } from './faults.js';
import { within } from './retry.js';
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
/** Kafka's error codes for what this identity may not even see. */
const TOPIC_AUTHORIZATION_FAILED = 29;
const GROUP_AUTHORIZATION_FAILED = 30;
const NOT_AUTHORIZED = new Set([TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED]);

export const MISSING_TOPICS = 'missing topics: ';

interface Seen {
  readonly errorCode: number;
  readonly operations: number;
}

function missingOf(wanted: readonly Operation[], { errorCode, operations }: Seen): readonly Operation[] {
  // Whoever may read or write may also see the topic.
  if (NOT_AUTHORIZED.has(errorCode)) return wanted.filter((operation) => operation !== 'DescribeConfigs');
  if (operations === UNKNOWN || errorCode !== 0) return [];
  return wanted.filter((operation) => (operations & (1 << OPERATIONS[operation])) === 0);
}

/**
 * Requests what this identity may do (KIP-430), and returns each missing right or topic as a sentence. Rejects when
 * the brokers do not respond within 5 s. Writes nothing.
 */
export async function findAccessFaults(kafka: Kafka, access: KafkaAccess): Promise<string[]> {
  const faults = await within(readFaults(kafka, access), OFFSETS_DEADLINE_MS);
  if (faults === undefined) throw new Error('no response in time');
  return faults;
}

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
    sentences(missingOf(['Read'], await seeGroup(groupId).catch(toSeen)), `group ${groupId}`),
  );
  return [
    ...(absent.length > 0 ? [`${MISSING_TOPICS}${absent.join(', ')}`] : []),
    ...seen.flatMap((one) => sentences(missingOf(topics[one.topic] ?? [], one), `topic ${one.topic}`)),
    ...(await Promise.all(groupFaults)).flat(),
  ];
}

/** Returns a missing right as the broker's code. Throws any other error. */
function toSeen(error: unknown): Seen {
  if (faultOf(error).type !== 'GROUP_AUTHORIZATION_FAILED') throw error;
  return { errorCode: GROUP_AUTHORIZATION_FAILED, operations: UNKNOWN };
}

const sentences = (operations: readonly Operation[], on: string): string[] =>
  operations.length === 0 ? [] : [`missing right: ${operations.join(' and ')} on ${on}`];
