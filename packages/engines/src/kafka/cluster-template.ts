import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { allOrNone } from '../all-or-none.js';
import { cachedFolder } from '../cache/cached-folder.js';
import { withProgress, type Log } from '../log.js';
import {
  brokerDataFolder,
  launchBroker,
  writeBrokerProperties,
  type BrokerLaunch,
  type BrokerRuntime,
} from './broker-process.js';
import { brokerProperties } from './broker-properties.js';
import { formatData, makeInternalTopics, type BrokerTemplate } from './broker-template.js';
import { chooseNodePlaces, NODE_IDS, type NodePlace } from './node-places.js';

/** The folder of a node below that of its cluster. */
export const nodeFolder = (folder: string, nodeId: number): string => join(folder, `node-${nodeId}`);

/**
 * Prepares, once for each Java and set of jars, the data folders of three nodes that know each other and have their
 * internal topics: below the folder that is returned, one for each node.
 */
export async function ensureClusterTemplate(
  runtime: BrokerRuntime,
  { jarsFingerprint, jvmOptions }: { readonly jarsFingerprint: string } & Pick<BrokerTemplate, 'jvmOptions'>,
  log: Log,
): Promise<string> {
  const controllerPorts = NODE_IDS.map(() => 0);
  const settings = NODE_IDS.map((nodeId) =>
    brokerProperties({ port: 0, controllerPort: 0, logDir: '', member: { nodeId, controllerPorts } }),
  );
  const key = createHash('sha256')
    .update([jarsFingerprint, runtime.classPath, runtime.java.version, ...settings].join('\0'))
    .digest('hex')
    .slice(0, 16);
  return cachedFolder(`kafka-cluster-${key}`, log, (target) =>
    withProgress(log, 'preparing a cluster of Apache Kafka for quick starts', () =>
      makeTemplate(runtime, jvmOptions, target),
    ),
  );
}

async function makeTemplate(
  runtime: BrokerRuntime,
  jvmOptions: readonly string[],
  target: string,
): Promise<void> {
  const places = await chooseNodePlaces();
  const launches = places.map((place) => ({
    ...place,
    folder: nodeFolder(target, place.member.nodeId),
    jvmOptions,
  }));
  await Promise.all(launches.map((launch) => formatNode(runtime, launch)));
  const launching = launches.map((launch) => launchBroker(runtime, launch));
  const nodes = await allOrNone(launching, (node) => node.stop());
  try {
    await makeInternalTopics(addressesOf(places));
  } finally {
    // The last ones find no controllers to leave in order any more: they are ended after their grace.
    await Promise.all(nodes.map((node) => node.stop()));
  }
  for (const { folder } of launches) await rm(join(brokerDataFolder(folder), '.lock'), { force: true });
}

async function formatNode(runtime: BrokerRuntime, launch: BrokerLaunch): Promise<void> {
  await mkdir(launch.folder, { recursive: true });
  await formatData(runtime, await writeBrokerProperties(launch), launch.folder);
}

const addressesOf = (places: readonly NodePlace[]): string[] => places.map(({ port }) => `127.0.0.1:${port}`);
