import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { externalEngine, superviseEngine, namedAddress } from '../engine/engine-lifecycle.js';
import type { EngineLifecycle } from '../engine/engine-lifecycle.js';
import { RESPONSE_DEADLINE_MS, READY_DEADLINE_MS, withProgress } from '../engine/wait.js';
import type { Log } from '../engine/wait.js';
import { brokerProperties } from './broker-properties.js';
import type { BrokerPlace } from './broker-properties.js';
import {
  awaitBroker,
  ALL_COMPILERS,
  classArchive,
  launchBroker,
  withAdmin,
  type BrokerLaunch,
  type BrokerRuntime,
} from './broker-process.js';
import { cachedFolder, awaitFreeDataFolder } from '../engine/folders.js';
import { freePort } from '../engine/free-port.js';
import { ensureData, makeInternalTopics } from './broker-data.js';
import { ensureKafkaJars, findJava } from './jars.js';

export interface KafkaOptions extends Pick<BrokerPlace, 'proxiedListeners' | 'secure' | 'forLoad'> {
  /** Data folder of the embedded broker; created when missing, not removed by `stop`. */
  readonly dataDir: string;
  /** Preferred port of the embedded broker. Default, and when it is in use: a free one. */
  readonly port?: number;
  /** Further options of the embedded broker's JVM. */
  readonly jvmOptions?: readonly string[];
  /** Receives which Kafka is used, and the progress of steps that take longer than two seconds. Default: nothing is logged. */
  readonly log?: Log;
}

type KafkaSettings = KafkaOptions & { readonly log: Log };

export interface KafkaEngine extends EngineLifecycle {
  /** "host:port" each. */
  readonly brokers: string[];
}

/**
 * Uses the cluster at `addresses` ("host:port,host:port"). Resolves when one of its brokers is ready. Throws when none is within the
 * deadline, default 15 s.
 */
export async function useKafkaAddress(
  addresses: string,
  deadlineMs = RESPONSE_DEADLINE_MS,
): Promise<KafkaEngine> {
  const brokers = addresses
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  let isServed = false;
  const obstacles = await Promise.all(
    brokers.map(async (address) => {
      const obstacle = await awaitBroker(address, { deadlineMs, isAbandoned: () => isServed });
      isServed ||= obstacle === undefined;
      return obstacle;
    }),
  );
  if (!obstacles.includes(undefined)) {
    throw new Error(
      `KAFKA_BROKERS=${addresses}: no broker served within ${deadlineMs / 1_000} s (${obstacles.join('; ')}). ` +
        'Start the cluster, correct the address, or unset KAFKA_BROKERS to use the embedded broker.',
    );
  }
  return { ...externalEngine('KAFKA_BROKERS'), brokers };
}

/** Returns the client ids of a consumer group's members. */
export async function membersOf(brokers: readonly string[], groupId: string): Promise<readonly string[]> {
  const { groups } = await withAdmin(brokers, (admin) => admin.describeGroups([groupId]));
  return groups.flatMap(({ members }) => members.map(({ clientId }) => clientId));
}

/** Starts a real Apache Kafka as a child process: one broker that is its own controller, reachable at 127.0.0.1 only. */
export async function startEmbeddedKafka(settings: KafkaSettings): Promise<KafkaEngine> {
  return startBroker(await prepareRuntime(settings.log), settings);
}

/** Finds Java and the jars, and creates the template of this machine when it is missing. */
export async function prepareRuntime(log: Log): Promise<BrokerRuntime> {
  const [java, classPath] = await Promise.all([findJava(), ensureKafkaJars(log)]);
  const runtime = { java, classPath };
  // The name is a hash of everything that the template depends on: Java, the jars, and the broker's settings.
  const settings = brokerProperties({ port: 0, controllerPort: 0, logDir: '' });
  const name = createHash('sha256').update([java, classPath, settings].join('\n')).digest('hex');
  const make = (folder: string) =>
    withProgress(log, 'preparing quick starts of Apache Kafka', () => makeTemplate(runtime, folder, log));
  return { ...runtime, template: await cachedFolder(`kafka-template-${name}`, make) };
}

/** Runs a broker once. At its orderly end it leaves its data, with the internal topics, and an archive of the classes it has loaded. */
async function makeTemplate(runtime: BrokerRuntime, dataDir: string, log: Log): Promise<void> {
  const jvmOptions = [`-XX:ArchiveClassesAtExit=${classArchive(dataDir)}`];
  const kafka = await startBroker(runtime, { dataDir, log, jvmOptions });
  // On busy cores writing the archive takes longer than the usual stop deadline.
  await makeInternalTopics(kafka.brokers).finally(() => kafka.stop(READY_DEADLINE_MS));
}

/** Starts a broker on its data folder, which is created when missing. */
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
  { dataDir, log, port: preferredPort, jvmOptions: given = [], ...place }: KafkaSettings,
): Promise<KafkaEngine> {
  const [port, controllerPort] = [await freePort(preferredPort), await freePort()];
  const jvmOptions = [...(place.forLoad === true ? [ALL_COMPILERS] : []), ...given];
  const launch = { ...place, folder: dataDir, port, controllerPort, jvmOptions };
  const lifecycle = await superviseBroker(runtime, launch, log);
  return Object.assign(lifecycle, { brokers: [`127.0.0.1:${port}`] });
}

/**
 * Uses the cluster that KAFKA_BROKERS names, otherwise starts a real Apache Kafka as a child process. Logs which one. Errors say how to fix
 * their cause.
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
