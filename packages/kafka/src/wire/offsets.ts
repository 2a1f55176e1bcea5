import type Cluster from 'kafkajs/src/cluster/index.js';
import type { TopicPartition } from '../record.js';

/** Offsets of a topic's partitions by ListOffsets: the earliest ones, or the ends (of what is committed). */
export async function listOffsets(
  cluster: Cluster,
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

export async function earliestOffset(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
): Promise<number> {
  const offsets = await listOffsets(cluster, topic, { partitions: [partition], earliest: true });
  const offset = offsets.get(partition);
  if (offset === undefined) throw new Error(`no earliest offset for ${topic}/${partition}`);
  return offset;
}
