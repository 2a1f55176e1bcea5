import type Cluster from 'kafkajs/src/cluster/index.js';

export interface Namesakes {
  readonly groupId: string;
  readonly clientId: string;
}

/** Removes the members of this client id from the group, so that nobody waits for the end of their sessions. Returns how many. */
export async function removeNamesakes(cluster: Cluster, { groupId, clientId }: Namesakes): Promise<number> {
  const coordinator = await cluster.findGroupCoordinator({ groupId });
  const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
  const own = groups.flatMap(({ members }) => members).filter((member) => member.clientId === clientId);
  for (const { memberId } of own) await coordinator.leaveGroup({ groupId, memberId });
  return own.length;
}
