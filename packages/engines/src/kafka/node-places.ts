import { freePort } from '../free-port.js';
import type { BrokerPlace, ClusterMember } from './broker-properties.js';

/** Three: two copies of everything are left when one node is down. */
export const NODE_IDS = [1, 2, 3] as const;

export interface NodePlace extends Pick<BrokerPlace, 'port' | 'controllerPort'> {
  readonly member: ClusterMember;
}

/** Ports of 127.0.0.1 for each node of a cluster, in the order of their ids. */
export async function chooseNodePlaces(): Promise<NodePlace[]> {
  const ports = await Promise.all(
    NODE_IDS.map(async (nodeId) => ({ nodeId, port: await freePort(), controllerPort: await freePort() })),
  );
  const controllerPorts = ports.map(({ controllerPort }) => controllerPort);
  return ports.map(({ nodeId, ...place }) => ({ ...place, member: { nodeId, controllerPorts } }));
}
