import type Cluster from 'kafkajs/src/cluster/index.js';
import type { TopicPartition } from '../record.js';

/** Where a group stands on a partition. */
export interface GroupPosition extends TopicPartition {
  /** All before it is handled; -1 when the group has committed nothing. */
  readonly offset: number;
  /** Time of the record there, or of the last one before it (Unix milliseconds); undefined when it is not known. */
  readonly at: number | undefined;
}

/** What the group has committed on each of these partitions. */
export async function fetchPositions(
  cluster: Cluster,
  groupId: string,
  assigned: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
): Promise<GroupPosition[]> {
  if (assigned.length === 0) return [];
  const coordinator = await cluster.findGroupCoordinator({ groupId });
  const topics = assigned.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((partition) => ({ partition })),
  }));
  const { responses } = await coordinator.offsetFetch({ groupId, topics });
  return responses.flatMap(({ topic, partitions }) =>
    partitions.map(({ partition, offset, metadata }) => ({
      topic,
      partition,
      offset: Number(offset),
      at: Number(metadata) || undefined, // empty when another program committed it
    })),
  );
}

/** Removes the members of this client id from the group, so that nobody waits for the end of their sessions. Returns how many. */
export async function removeNamesakes(cluster: Cluster, groupId: string, clientId: string): Promise<number> {
  await cluster.connect();
  const coordinator = await cluster.findGroupCoordinator({ groupId });
  const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
  const own = groups.flatMap(({ members }) => members).filter((member) => member.clientId === clientId);
  for (const { memberId } of own) await coordinator.leaveGroup({ groupId, memberId });
  return own.length;
}
