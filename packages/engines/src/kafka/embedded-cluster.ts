import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { allOrNone } from '../all-or-none.js';
import { awaitFreeDataFolder } from '../data-folder.js';
import { superviseEngine, type EngineLifecycle } from '../engine-lifecycle.js';
import type { Log } from '../log.js';
import { brokerDataFolder, launchBroker } from './broker-process.js';
import { copyTemplate, ensureBrokerTemplate } from './broker-template.js';
import { ensureClusterTemplate, nodeFolder } from './cluster-template.js';
import { ensureKafkaJars } from './jars.js';
import { findJava } from './java.js';
import { chooseNodePlaces, type NodePlace } from './node-places.js';

export interface KafkaClusterOptions {
  /** Folder of all nodes; made when missing, kept after `stop`. */
  readonly dataDir: string;
  /** Receives progress of what takes longer than two seconds. Default: nothing is printed. */
  readonly log?: Log;
}

/** One of three nodes. `restart` resolves when it serves, which needs two that run: restart two together. */
export interface ClusterNode extends EngineLifecycle {
  /** From 1 on, as Kafka knows it. */
  readonly nodeId: number;
  /** "host:port". */
  readonly address: string;
}

/** Three brokers that are the quorum of controllers together; topics have three copies unless they say otherwise. */
export interface KafkaCluster {
  /** "host:port" of each node. */
  readonly brokers: readonly string[];
  /** In the order of their ids. */
  readonly nodes: readonly ClusterNode[];
  /**
   * Ends all nodes by SIGKILL: in an orderly end the last ones would wait for controllers that have ended already. What was
   * acknowledged is on disk or with the operating system.
   */
  stop(): Promise<void>;
}

/**
 * Starts a cluster of three nodes of a real Apache Kafka as child processes, reachable at 127.0.0.1 only, each with a heap
 * of 256 MiB at most; always embedded, because its nodes are there to be killed. Throws when one of them does not serve.
 */
export async function startKafkaCluster(options: KafkaClusterOptions): Promise<KafkaCluster> {
  const log = options.log ?? (() => undefined);
  const dataDir = resolve(options.dataDir);
  const startNode = await prepare(dataDir, log);
  const nodes = await allOrNone((await chooseNodePlaces()).map(startNode), endNode);
  return {
    brokers: nodes.map(({ address }) => address),
    nodes,
    stop: async () => {
      await Promise.all(nodes.map(endNode));
    },
  };
}

type StartNode = (place: NodePlace) => Promise<ClusterNode>;

/** Everything that the nodes have in common. */
async function prepare(dataDir: string, log: Log): Promise<StartNode> {
  const [java, jars] = await Promise.all([findJava(log), ensureKafkaJars(log)]);
  const runtime = { java, classPath: jars.classPath };
  const { jvmOptions } = await ensureBrokerTemplate(runtime, jars.fingerprint, log);
  const parts = { jarsFingerprint: jars.fingerprint, jvmOptions };
  const template = await ensureClusterTemplate(runtime, parts, log);
  return async (place) => {
    const { nodeId } = place.member;
    const folder = nodeFolder(dataDir, nodeId);
    await mkdir(folder, { recursive: true });
    const lifecycle = await superviseEngine(async () => {
      await awaitFreeDataFolder(folder, log);
      await copyTemplate({ dataFolder: brokerDataFolder(nodeFolder(template, nodeId)) }, folder, log);
      return launchBroker(runtime, { ...place, folder, jvmOptions });
    });
    return Object.assign(lifecycle, { nodeId, address: `127.0.0.1:${place.port}` });
  };
}

async function endNode(node: EngineLifecycle): Promise<void> {
  node.kill();
  await node.stop();
}
