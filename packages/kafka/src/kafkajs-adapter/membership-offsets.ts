import type Cluster from 'kafkajs/src/cluster/index.js';
import type ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import { listOffsets } from './offsets.js';

export interface AssignedPartition {
  readonly topic: string;
  readonly partition: number;
  /** What the group committed; undefined when it never did. */
  readonly committed: number | undefined;
  /** Where to begin when nothing was committed. */
  readonly earliest: number;
}

export interface Assignment {
  readonly groupId: string;
  readonly assigned: readonly { readonly topic: string; readonly partitions: readonly number[] }[];
}

/** Where the group stands on each assigned partition. */
export async function committedOffsets(
  cluster: Cluster,
  group: ConsumerGroup,
  { groupId, assigned }: Assignment,
): Promise<AssignedPartition[]> {
  const topics = assigned.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((partition) => ({ partition })),
  }));
  if (topics.length === 0 || group.coordinator === null) return [];
  const { responses } = await group.coordinator.offsetFetch({ groupId, topics });
  const found: AssignedPartition[] = [];
  for (const { topic, partitions } of responses) {
    const missing = partitions.filter(({ offset }) => Number(offset) < 0).map(({ partition }) => partition);
    const earliest =
      missing.length > 0
        ? await listOffsets({ cluster }, topic, { partitions: missing, earliest: true })
        : new Map<number, number>();
    for (const { partition, offset } of partitions) {
      const committed = Number(offset) < 0 ? undefined : Number(offset);
      found.push({ topic, partition, committed, earliest: earliest.get(partition) ?? 0 });
    }
  }
  return found;
}
