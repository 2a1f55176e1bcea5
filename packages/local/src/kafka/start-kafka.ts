import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { foreignEngine, superviseEngine, namedAddress } from '../engine/engine-lifecycle.js';
import type { EngineLifecycle, EngineKind } from '../engine/engine-lifecycle.js';
import { RESPONSE_DEADLINE_MS, READY_DEADLINE_MS, withProgress } from '../engine/wait.js';
import type { Log } from '../engine/wait.js';
import { brokerProperties } from './broker-properties.js';
import type { Detour } from './broker-properties.js';
import {
  awaitBroker,
  createUnloggedKafka,
  ALL_COMPILERS,
  classArchive,
  launchBroker,
  type BrokerLaunch,
  type BrokerRuntime,
} from './broker-process.js';
import { cachedFolder, awaitFreeDataFolder } from '../engine/folders.js';
import { onFreePorts } from '../engine/free-port.js';
import { ensureData, makeInternalTopics } from './broker-data.js';
import { ensureKafkaJars, findJava } from './jars.js';

export interface KafkaOptions {
  /** Folder of the embedded broker; made when missing, kept after `stop`. */
  readonly dataDir: string;
  /** Preferred port of the embedded broker; a free one is taken when it is in use or not given. */
  readonly port?: number;
  /** Further ports of the embedded broker that lead through somebody else; default none. Its own port never does. */
  readonly detours?: readonly Detour[];
  /**
   * For load that lasts: the embedded broker's hot code is compiled by all means, as Java does by itself. Default false:
   * compiled quickly, which starts sooner and takes more CPU time for each record.
   */
  readonly forLoad?: boolean;
  /** Receives the choice, and progress of what takes longer than two seconds. Default: nothing is printed. */
  readonly log?: Log;
}

type KafkaSettings = KafkaOptions & { readonly log: Log };

export interface KafkaEngine extends EngineLifecycle {
  readonly kind: EngineKind;
  /** "host:port" each. */
  readonly brokers: string[];
}

/** For 5 s: a cluster that never had a group makes the topic of groups first. */
const GROUP_RETRIES = 20;

/** The cluster at `addresses` ("host:port,host:port"); throws when no broker of them serves within the deadline. */
export async function useKafkaAddress(
  addresses: string,
  deadlineMs = RESPONSE_DEADLINE_MS,
): Promise<KafkaEngine> {
  const brokers = addresses
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  const obstacles = await Promise.all(brokers.map((address) => awaitBroker(address, { deadlineMs })));
  if (!obstacles.includes(undefined)) {
    throw new Error(
      `KAFKA_BROKERS=${addresses}: no broker served within ${deadlineMs / 1_000} s (${obstacles.join('; ')}). ` +
        'Start the cluster, correct the address, or unset KAFKA_BROKERS to use the embedded broker.',
    );
  }
  return { ...foreignEngine('KAFKA_BROKERS'), kind: 'address', brokers };
}

/** The client ids of a consumer group's members. */
export async function membersOf(brokers: readonly string[], groupId: string): Promise<readonly string[]> {
  const admin = createUnloggedKafka(brokers, GROUP_RETRIES).admin();
  try {
    await admin.connect();
    const { groups } = await admin.describeGroups([groupId]);
    return groups.flatMap(({ members }) => members.map(({ clientId }) => clientId));
  } finally {
    await admin.disconnect();
  }
}

/** A real Apache Kafka as a child process: one broker that is its own controller, reachable at 127.0.0.1 only. */
export async function startEmbeddedKafka(settings: KafkaSettings): Promise<KafkaEngine> {
  const runtime = await prepareRuntime(settings.log);
  return startBroker(runtime, settings, settings.forLoad === true ? [ALL_COMPILERS] : []);
}

/** Java, the jars, and the template of this machine, which is made when there is none. */
export async function prepareRuntime(log: Log): Promise<BrokerRuntime> {
  const [java, classPath] = await Promise.all([findJava(), ensureKafkaJars(log)]);
  const runtime = { java, classPath };
  // A template is as good as what is in its name: Java, the jars, and the broker's settings.
  const settings = brokerProperties({ port: 0, controllerPort: 0, logDir: '' });
  const name = createHash('sha256').update([java, classPath, settings].join('\n')).digest('hex');
  const make = (folder: string) =>
    withProgress(log, 'preparing quick starts of Apache Kafka', () => makeTemplate(runtime, folder, log));
  return { ...runtime, template: await cachedFolder(`kafka-template-${name}`, make) };
}

/** A broker that ends in order leaves its data, with the internal topics, and an archive of the classes it has loaded. */
async function makeTemplate(runtime: BrokerRuntime, dataDir: string, log: Log): Promise<void> {
  const archiving = [`-XX:ArchiveClassesAtExit=${classArchive(dataDir)}`];
  const kafka = await startBroker(runtime, { dataDir, log }, archiving);
  // On full cores the archive alone takes longer than a broker otherwise has for its end.
  await makeInternalTopics(kafka.brokers).finally(() => kafka.stop(READY_DEADLINE_MS));
}

/** Starts a broker on its data, which is made when there is none. */
export const superviseBroker = (
  runtime: BrokerRuntime,
  launch: BrokerLaunch,
  log: Log,
): Promise<EngineLifecycle> =>
  superviseEngine(async () => {
    await awaitFreeDataFolder(launch.folder, log);
    await ensureData(runtime, launch, log);
    return launchBroker(runtime, launch);
  });

async function startBroker(
  runtime: BrokerRuntime,
  { dataDir, log, port: preferredPort, detours = [] }: KafkaSettings,
  jvmOptions: readonly string[],
): Promise<KafkaEngine> {
  return onFreePorts(preferredPort, async (port, controllerPort) => {
    const launch = { folder: dataDir, port, controllerPort, detours, jvmOptions };
    const lifecycle = await superviseBroker(runtime, launch, log);
    return Object.assign(lifecycle, { kind: 'embedded' as const, brokers: [`127.0.0.1:${port}`] });
  });
}

/**
 * Makes a Kafka available: the cluster named by KAFKA_BROKERS, otherwise a real Apache Kafka as a child process. Says which
 * through `log`. Throws an error that names the ways out.
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaEngine> {
  const log = options.log ?? (() => undefined);
  const address = namedAddress('KAFKA_BROKERS');
  if (address !== undefined) {
    log(`Kafka: the cluster at ${address} (KAFKA_BROKERS)`);
    return useKafkaAddress(address);
  }
  const kafka = await startEmbeddedKafka({ ...options, log, dataDir: resolve(options.dataDir) });
  log(`Kafka: embedded Apache Kafka at ${kafka.brokers.join(',')}`);
  return kafka;
}
