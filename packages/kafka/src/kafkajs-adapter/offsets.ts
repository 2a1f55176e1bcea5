import type { TopicPartition } from '../record.js';
import type { Link } from './connect.js';

/** Offsets of a topic's partitions by ListOffsets: the earliest ones, or the ends (of what is committed). */
export async function listOffsets(
  { cluster }: Pick<Link, 'cluster'>,
  topic: string,
  which: { readonly partitions: readonly number[]; readonly earliest: boolean },
): Promise<Map<number, number>> {
  const partitions = which.partitions.map((partition) => ({ partition }));
  const answers = await cluster.fetchTopicsOffset([{ topic, partitions, fromBeginning: which.earliest }]);
  const offsets = new Map<number, number>();
  for (const answer of answers) {
    for (const { partition, offset } of answer.partitions) offsets.set(partition, Number(offset));
  }
  return offsets;
}

/** The partitions of a topic. Rejects when none is known. */
export async function partitionIdsOf({ cluster }: Pick<Link, 'cluster'>, topic: string): Promise<number[]> {
  await cluster.addMultipleTargetTopics([topic]);
  const all = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
  if (all.length === 0) throw new Error(`no metadata of ${topic}`);
  return all;
}

export async function earliestOffset(link: Link, { topic, partition }: TopicPartition): Promise<number> {
  const offsets = await listOffsets(link, topic, { partitions: [partition], earliest: true });
  const offset = offsets.get(partition);
  if (offset === undefined) throw new Error(`no earliest offset for ${topic}/${partition}`);
  return offset;
}
