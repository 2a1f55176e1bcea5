import type { TopicPartition } from '../record.js';
import { within } from '../deadline.js';
import { dropConnections, type Link } from './link.js';

/** Times that ListOffsets takes for the two ends of a log (KIP-79). */
export const EARLIEST = -2;
const LATEST = -1;

/** Offsets of a topic's partitions by ListOffsets at a time (Unix milliseconds), or the earliest ones, or the ends of what is committed. */
export async function listOffsets(
  { cluster }: Pick<Link, 'cluster'>,
  topic: string,
  ids: readonly number[],
  fromTimestamp = LATEST,
): Promise<Map<number, number>> {
  const partitions = ids.map((partition) => ({ partition }));
  const [found] = await cluster.fetchTopicsOffset([{ topic, partitions, fromTimestamp }]);
  return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
}

/**
 * The offset of a partition's first record of the time `at` (Unix milliseconds) or later, the end when there is none; by default
 * that of the earliest record.
 */
export async function offsetAt(
  link: Pick<Link, 'cluster'>,
  place: TopicPartition,
  at = EARLIEST,
): Promise<number> {
  const { topic, partition } = place;
  const offset = (await listOffsets(link, topic, [partition], at)).get(partition);
  if (offset === undefined) throw new Error(`no offset for ${topic}/${partition}`);
  return offset < 0 ? offsetAt(link, place, LATEST) : offset;
}

/**
 * How many partitions a topic has now, from any broker. Rejects when that takes longer than `deadlineMs`: then the broker's
 * connections are dropped, and another one is requested next.
 */
export async function countPartitions({ cluster }: Link, topic: string, deadlineMs: number): Promise<number> {
  const broker = await cluster.brokerPool.findConnectedBroker();
  const response = await within(broker.metadata([topic]), deadlineMs);
  if (response !== undefined) return response.topicMetadata[0]?.partitionMetadata.length ?? 0;
  const late = `no metadata of ${topic} within ${deadlineMs} ms`;
  dropConnections(broker, late);
  throw new Error(late);
}

/** The partitions of a topic. Rejects when none is known. */
export async function partitionIdsOf({ cluster }: Pick<Link, 'cluster'>, topic: string): Promise<number[]> {
  await cluster.addMultipleTargetTopics([topic]);
  await cluster.refreshMetadataIfNecessary();
  const all = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
  if (all.length === 0) throw new Error(`no metadata of ${topic}`);
  return all;
}
