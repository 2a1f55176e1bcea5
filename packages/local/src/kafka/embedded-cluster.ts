import { join, resolve } from 'node:path';
import { allOrFirstFault, closeAfterFault, closeAll, type Closer } from '../engine/closers.js';
import type { EngineLifecycle } from '../engine/engine-lifecycle.js';
import { makeInternalTopics } from './broker-data.js';
import { prepareRuntime, superviseBroker } from './start-kafka.js';
import type { KafkaOptions } from './start-kafka.js';
import { freePort } from '../engine/free-port.js';
import type { BrokerPlace, ClusterMember } from './broker-properties.js';

/**
 * One of three nodes. `restart` resolves when the node is ready, for which two nodes have to run. So restart two stopped nodes at the same
 * time.
 */
export interface ClusterNode extends EngineLifecycle {
  /** Kafka's `node.id`, from 1. */
  readonly nodeId: number;
  /** "host:port". */
  readonly address: string;
}

/**
 * Starts a real Apache Kafka of three child processes, each a broker and a controller, reachable at 127.0.0.1 only. Topics have three
 * replicas by default. Each node has a heap of 256 MiB at most. The cluster is always embedded, because tests kill its nodes. Throws when a
 * node does not become ready.
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
    closers.push(() => lifecycle.stop(0));
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
     * Ends the nodes at once, one after the other, each once: a second call does nothing. At an orderly end the last nodes would wait
     * for controllers that have already ended. Acknowledged records are on disk or in the operating system's page cache.
     */
    stop: () => closeAll(closers, 'the cluster'),
  };
}

export type KafkaCluster = Awaited<ReturnType<typeof startKafkaCluster>>;

/** Three nodes, so that two replicas of everything are left when one node is down. */
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
