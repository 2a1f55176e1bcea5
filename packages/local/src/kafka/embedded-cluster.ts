import { join, resolve } from 'node:path';
import { allOrFirstFault, closeAfterFault, closeAll, type Closer } from '../engine/closers.js';
import type { EngineLifecycle } from '../engine/engine-lifecycle.js';
import { makeInternalTopics } from './broker-data.js';
import { prepareRuntime, superviseBroker } from './start-kafka.js';
import type { KafkaOptions } from './start-kafka.js';
import { freePort } from '../engine/free-port.js';
import type { BrokerPlace, ClusterMember } from './broker-properties.js';

/** One of three nodes. `restart` resolves when it serves, which needs two that run: restart two together. */
export interface ClusterNode extends EngineLifecycle {
  /** From 1 on, as Kafka knows it. */
  readonly nodeId: number;
  /** "host:port". */
  readonly address: string;
}

/**
 * Starts three brokers that are the quorum of controllers together; topics have three copies unless they say otherwise. They are
 * nodes of a real Apache Kafka as child processes, reachable at 127.0.0.1 only, each with a heap
 * of 256 MiB at most; always embedded, because its nodes are there to be killed. Throws when one of them does not serve.
 */
export async function startKafkaCluster(options: Pick<KafkaOptions, 'dataDir' | 'log'>) {
  const log = options.log ?? (() => undefined);
  const dataDir = resolve(options.dataDir);
  const runtime = await prepareRuntime(log);
  const closers: Closer[] = [];
  const startNode = async (place: NodePlace): Promise<ClusterNode> => {
    const { nodeId } = place.member;
    const launch = { ...place, folder: join(dataDir, `node-${nodeId}`), jvmOptions: [] };
    const lifecycle = await superviseBroker(runtime, launch, log);
    closers.push(() => endNode(lifecycle));
    return Object.assign(lifecycle, { nodeId, address: `127.0.0.1:${place.port}` });
  };
  const nodes = await allOrFirstFault((await chooseNodePlaces()).map(startNode)).catch((error: unknown) =>
    closeAfterFault(closers, 'the cluster', error),
  );
  const brokers = nodes.map(({ address }) => address);
  await makeInternalTopics(brokers);
  return {
    /** "host:port" of each node. */
    brokers: brokers as readonly string[],
    /** In the order of their ids. */
    nodes: nodes as readonly ClusterNode[],
    /**
     * Ends all nodes by SIGKILL: in an orderly end the last ones would wait for controllers that have ended already. What was
     * acknowledged is on disk or with the operating system.
     */
    stop: () => closeAll(closers, 'the cluster'),
  };
}

export type KafkaCluster = Awaited<ReturnType<typeof startKafkaCluster>>;

/** Three: two copies of everything are left when one node is down. */
const NODE_IDS = [1, 2, 3] as const;

interface NodePlace extends Pick<BrokerPlace, 'port' | 'controllerPort'> {
  readonly member: ClusterMember;
}

/** Ports of 127.0.0.1 for each node of a cluster, in the order of their ids. */
async function chooseNodePlaces(): Promise<NodePlace[]> {
  const ports = await Promise.all(
    NODE_IDS.map(async (nodeId) => ({ nodeId, port: await freePort(), controllerPort: await freePort() })),
  );
  const controllerPorts = ports.map(({ controllerPort }) => controllerPort);
  return ports.map(({ nodeId, ...place }) => ({ ...place, member: { nodeId, controllerPorts } }));
}

async function endNode(node: EngineLifecycle): Promise<void> {
  node.kill();
  await node.stop();
}
