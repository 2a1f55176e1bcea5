import kafkajs from 'kafkajs';
import type { Kafka } from './create-kafka.js';
import { fatalError } from '../faults.js';
import { untilDeadline, within } from '../retry.js';
import { type Connections, dropConnections } from './connections.js';
import type { TopicPartition } from '../record.js';
import { OFFSETS_DEADLINE_MS, TOPICS_DEADLINE_MS } from '../limits.js';

/** Special timestamps of ListOffsets for the two ends of a log (KIP-79). */
export const EARLIEST = -2;
const LATEST = -1;

/**
 * Requests offsets of a topic's partitions with ListOffsets: at a time (Unix milliseconds), the earliest, or by
 * default the ends.
 */
export async function listOffsets(
  { cluster }: Pick<Connections, 'cluster'>,
  topic: string,
  ids: readonly number[],
  fromTimestamp = LATEST,
): Promise<Map<number, number>> {
  const partitions = ids.map((partition) => ({ partition }));
  const [found] = await cluster.fetchTopicsOffset([{ topic, partitions, fromTimestamp }]);
  return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
}

/**
 * Requests the offset of a partition's first record at or after `at` (Unix milliseconds); default: the earliest
 * record. Without such a record, the end offset.
 */
export async function offsetAt(
  connections: Pick<Connections, 'cluster'>,
  place: TopicPartition,
  at = EARLIEST,
): Promise<number> {
  const { topic, partition } = place;
  const offset = (await listOffsets(connections, topic, [partition], at)).get(partition);
  if (offset === undefined) throw new Error(`no offset for ${topic}/${partition}`);
  return offset < 0 ? offsetAt(connections, place, LATEST) : offset;
}

/**
 * Requests how many partitions a topic has now, from any broker. Rejects after `deadlineMs`, and up to 3 s more for a
 * connection. Then the broker's connections are dropped, so that the next request goes to another broker.
 */
export async function countPartitions(
  { cluster }: Connections,
  topic: string,
  deadlineMs: number,
): Promise<number> {
  const broker = await cluster.brokerPool.findConnectedBroker();
  const response = await within(broker.metadata([topic]), deadlineMs);
  if (response !== undefined) return response.topicMetadata[0]?.partitionMetadata.length ?? 0;
  const late = `no metadata of ${topic} within ${deadlineMs} ms`;
  dropConnections(broker, late);
  throw new Error(late);
}

/** Returns the partition numbers of a topic. Rejects when none is known. */
export async function partitionIdsOf(
  { cluster }: Pick<Connections, 'cluster'>,
  topic: string,
): Promise<number[]> {
  await cluster.addMultipleTargetTopics([topic]);
  await cluster.refreshMetadataIfNecessary();
  const all = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
  if (all.length === 0) throw new Error(`no metadata of ${topic}`);
  return all;
}

/** End offset (the offset the next record will get) by partition number. */
export type EndOffsets = ReadonlyMap<number, number>;

/** A topic to create. */
export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** Default: the broker's own default. */
  readonly replicationFactor?: number;
  readonly configs: Readonly<Record<string, string>>;
}

const BROKER_DEFAULT = -1;

/**
 * Creates missing topics. Resolves when all exist, even if a partition has no leader yet. Existing topics are not
 * changed; a different number of partitions is logged. Several services may call this at the same time. Rejects
 * after `deadlineMs`; default 30,000.
 */
export async function ensureTopics(
  kafka: Kafka,
  specs: readonly TopicSpec[],
  options: { readonly deadlineMs?: number; readonly onFault?: (error: unknown) => void } = {},
): Promise<void> {
  const { cluster } = kafka.adminConnections;
  const admin = kafka.admin();
  const ensure = async (): Promise<void> => {
    await cluster.connect();
    const existing = new Set(await admin.listTopics());
    const missing = specs.filter(({ name }) => !existing.has(name));
    // kafkajs' `waitForLeaders` throws under load although the topic exists.
    if (missing.length > 0)
      await admin.createTopics({ topics: missing.map(toCreate), waitForLeaders: false });
    const broker = await cluster.brokerPool.findConnectedBroker();
    const { topicMetadata } = await broker.metadata(specs.map(({ name }) => name));
    const counts = new Map(topicMetadata.map((known) => [known.topic, known.partitionMetadata.length]));
    for (const spec of specs) comparePartitions(kafka, spec, counts.get(spec.name));
  };
  await untilDeadline('ensureTopics', options.deadlineMs ?? TOPICS_DEADLINE_MS, ensure, options.onFault);
}

function toCreate({ name, partitions, replicationFactor = BROKER_DEFAULT, configs }: TopicSpec) {
  const configEntries = Object.entries(configs).map(([key, value]) => ({ name: key, value }));
  return { topic: name, numPartitions: partitions, replicationFactor, configEntries };
}

function comparePartitions(kafka: Kafka, spec: TopicSpec, found = 0): void {
  if (found === 0) throw new Error(`topic ${spec.name} does not exist yet, or is not shown`);
  if (found === spec.partitions) return;
  const fields = { topic: spec.name, expected: spec.partitions, found };
  kafka.log('warn', 'kafka: a topic has another number of partitions than expected', fields);
}

/** Requests settings of a topic. Returns their values by name. */
export async function settingsOf(kafka: Kafka, name: string, configNames: string[]) {
  const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames }];
  const described = await kafka.admin().describeConfigs({ resources, includeSynonyms: false });
  const entries = described.resources.flatMap(({ configEntries }) => configEntries);
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}

/** Throws a fatal fault when the topic is not compacted, because Kafka would delete old records. */
export async function requireCompacted(kafka: Kafka, topic: string): Promise<true> {
  const policy = (await settingsOf(kafka, topic, ['cleanup.policy'])).get('cleanup.policy');
  if (policy === 'compact') return true;
  const message = `${topic} has cleanup.policy=${policy}, so Kafka deletes old records; it must be compact`;
  throw fatalError('INVALID_CONFIG', message);
}

/**
 * Requests the current end of each partition: the offset of the next committed record. Rejects after `deadlineMs`;
 * default 5,000.
 */
export const fetchEndOffsets = (kafka: Kafka, topic: string, options?: { readonly deadlineMs?: number }) =>
  endOffsetsOf(kafka.adminConnections, topic, options?.deadlineMs);

/** As `fetchEndOffsets`, on the given connections and with their isolation level. */
export function endOffsetsOf(connections: Connections, topic: string, deadlineMs = OFFSETS_DEADLINE_MS) {
  return untilDeadline(`end offsets of ${topic}`, deadlineMs, async () => {
    await connections.cluster.refreshMetadata(); // partitions may have been added
    return listOffsets(connections, topic, await partitionIdsOf(connections, topic));
  });
}
