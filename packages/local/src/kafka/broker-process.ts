import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import kafkajs, { Kafka, logLevel, type Admin } from 'kafkajs';
import { errorText, lastLines, runCommand } from '../engine/command.js';
import { READY_DEADLINE_MS, untilClear, type PollOptions } from '../engine/wait.js';
import { launchEngine } from '../engine/engine-lifecycle.js';
import type { GuardedProcess } from '../engine/guarded-process.js';
import { brokerProperties, type BrokerPlace } from './broker-properties.js';

/** Creates a kafkajs client without a log, for a broker that may not run yet. `retries`: default 0. */
export const createUnloggedKafka = (brokers: readonly string[], retries = 0): Kafka =>
  new Kafka({
    clientId: 'engines',
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    retry: { retries, initialRetryTime: 50, maxRetryTime: 250 },
  });

/** Retries for 5 s: a connection may fail on a busy machine, and a cluster creates the topic of groups at the first request. */
const RETRIES = 20;

/** Runs `work` with a connected admin client. `retries`: of each request; default: for 5 s. */
export async function withAdmin<T>(
  brokers: readonly string[],
  work: (admin: Admin) => Promise<T>,
  retries = RETRIES,
): Promise<T> {
  const admin = createUnloggedKafka(brokers, retries).admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/**
 * Waits until the broker at `address` ("host:port") is ready: metadata lists the broker and a controller, and the controller would create a
 * topic (a request with `validateOnly`). An open port alone proves nothing. With `logDir`: until the broker with this data folder has the
 * port. Resolves with undefined, or with the obstacle when the deadline has passed.
 */
export const awaitBroker = (
  address: string,
  pollOptions: PollOptions,
  logDir?: string,
): Promise<string | undefined> => untilClear(() => obstacleOf(address, logDir), pollOptions);

const obstacleOf = (address: string, logDir: string | undefined): Promise<string | undefined> => {
  const look = async (admin: Admin) => {
    const cluster = await admin.describeCluster();
    const broker = cluster.brokers.find(({ port }) => address.endsWith(`:${port}`)) ?? cluster.brokers[0];
    if (broker === undefined || cluster.controller === null) return 'no broker or no controller yet';
    if (logDir !== undefined && (await logDirOf(admin, broker.nodeId)) !== logDir)
      return 'another broker has the port';
    const topics = [{ topic: 'ready', numPartitions: 1, replicationFactor: 1 }];
    await admin.createTopics({ validateOnly: true, waitForLeaders: false, topics });
    return undefined;
  };
  return withAdmin([address], look, 0).catch(errorText);
};

async function logDirOf(admin: Admin, nodeId: number): Promise<string | undefined> {
  const broker = {
    type: kafkajs.ConfigResourceTypes.BROKER,
    name: String(nodeId),
    configNames: ['log.dirs'],
  };
  const { resources } = await admin.describeConfigs({ resources: [broker], includeSynonyms: false });
  return resources[0]?.configEntries[0]?.configValue;
}

/** A small heap and quick compiler settings: a start in two seconds, 150 MB when idle. */
const SMALL_JVM = [
  '-Xms64m',
  '-Xmx256m',
  '-XX:MaxDirectMemorySize=64m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:-UsePerfData',
  '-Xlog:disable',
  '-Xlog:all=error:stderr',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
];

/** Java's default, which replaces the quick compiler. */
export const ALL_COMPILERS = '-XX:TieredStopAtLevel=4';

export interface BrokerRuntime {
  /** Path or name of the `java` command. */
  readonly java: string;
  readonly classPath: string;
  /** Folder that the first start on this machine created: `data` with the internal topics, and the class archive. */
  readonly template?: string;
}

export interface BrokerLaunch extends Omit<BrokerPlace, 'logDir'> {
  /** Folder for `server.properties`, `kafka.log` and, below it, `data`. */
  readonly folder: string;
  /** Further options of the JVM. */
  readonly jvmOptions: readonly string[];
}

/** Arguments for `java` up to and including the class to run. */
export const javaArguments = (
  runtime: BrokerRuntime,
  jvmOptions: readonly string[],
  mainClass: string,
): string[] => [...SMALL_JVM, ...sharedClasses(runtime), ...jvmOptions, '-cp', runtime.classPath, mainClass];

/**
 * An archive of loaded classes halves the CPU time of a start. Java ignores an archive that is missing or incompatible; `cds=off` keeps it
 * from logging that as an error.
 */
const sharedClasses = ({ template }: BrokerRuntime): string[] =>
  template === undefined ? [] : [`-XX:SharedArchiveFile=${classArchive(template)}`, '-Xlog:cds=off:stderr'];

export const classArchive = (template: string): string => join(template, 'classes.jsa');

export const brokerDataFolder = (folder: string): string => join(folder, 'data');

/** Writes `server.properties` and returns its path. */
export async function writeBrokerProperties(launch: BrokerLaunch, logDir: string): Promise<string> {
  const path = join(launch.folder, 'server.properties');
  await writeFile(path, brokerProperties({ ...launch, logDir }));
  return path;
}

// Java reads file names in the encoding of the locale; in the plain C locale it finds no /home/josé.
const JAVA_ENV = { LC_ALL: 'C.UTF-8' };

/** Runs one of Kafka's own programs in `folder`. Throws with its last lines when it fails. */
export async function runTool(
  runtime: BrokerRuntime,
  folder: string,
  [mainClass, ...args]: readonly [string, ...string[]],
): Promise<void> {
  const { code, output } = await runCommand(
    runtime.java,
    [...javaArguments(runtime, [], mainClass), ...args],
    { timeoutMs: READY_DEADLINE_MS, cwd: folder, env: JAVA_ENV },
  );
  if (code !== 0) throw new Error(`${mainClass} of Apache Kafka failed: ${lastLines(output)}`);
}

/** Starts the broker and resolves when it is ready. */
export async function launchBroker(runtime: BrokerRuntime, launch: BrokerLaunch): Promise<GuardedProcess> {
  const logDir = brokerDataFolder(launch.folder);
  const propertiesFile = await writeBrokerProperties(launch, logDir);
  return launchEngine({
    title: 'Apache Kafka',
    folder: launch.folder,
    logName: 'kafka.log',
    command: runtime.java,
    args: [...javaArguments(runtime, launch.jvmOptions, 'kafka.Kafka'), propertiesFile],
    env: JAVA_ENV,
    awaitReady: (pollOptions) => awaitBroker(`127.0.0.1:${launch.port}`, pollOptions, logDir),
  });
}
