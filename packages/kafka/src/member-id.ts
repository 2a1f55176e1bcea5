import joinGroup from 'kafkajs/src/protocol/requests/joinGroup/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import type { JoinRequest } from 'kafkajs/src/protocol/requests/joinGroup/index.js';
import type { Link } from './wire/connect.js';

/** From version 4 on the coordinator first names a member and then lets it join (KIP-394). */
const JOIN_VERSION = 5;

/**
 * The id that the coordinator gives to a new member, which counts from now on. kafkajs would ask for it by itself and
 * keep it to itself until the join is done: whoever is stopped meanwhile could not leave.
 */
export async function newMemberId(cluster: Cluster, request: Omit<JoinRequest, 'memberId'>): Promise<string> {
  const coordinator = await cluster.findGroupCoordinator({ groupId: request.groupId });
  const join = joinGroup.protocol({ version: JOIN_VERSION })({ ...request, memberId: '' });
  try {
    return (await coordinator.connectionPool.send(join)).memberId;
  } catch (error) {
    if (error instanceof Error && 'memberId' in error) return String(error.memberId);
    throw error;
  }
}

export interface Leaver {
  readonly groupId: string;
  readonly memberId: string;
}

/** Leaves over connections of its own: a broker answers a connection in order, and a join is answered only when all have joined. */
export async function leaveElsewhere(openLink: () => Link, leaver: Leaver): Promise<void> {
  const link = openLink();
  try {
    await link.cluster.connect();
    const coordinator = await link.cluster.findGroupCoordinator({ groupId: leaver.groupId });
    await coordinator.leaveGroup(leaver);
  } finally {
    await link.close();
  }
}
