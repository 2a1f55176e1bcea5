import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rememberEngine } from '../data-folder.js';
import { ANSWER_DEADLINE_MS, READY_DEADLINE_MS } from '../deadline.js';
import { spawnGuarded, type GuardedProcess } from '../guarded-process.js';
import { brokerProperties, type ClusterMember, type Detour } from './broker-properties.js';
import { awaitBroker } from './broker-ready.js';

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

/** In place of the quick compiler: what a Java machine does by itself. */
export const ALL_COMPILERS = '-XX:TieredStopAtLevel=4';

export interface BrokerRuntime {
  /** The command. */
  readonly java: string;
  readonly classPath: string;
}

export interface BrokerLaunch {
  /** Folder for `server.properties`, `kafka.log` and, below it, `data`. */
  readonly folder: string;
  readonly port: number;
  readonly controllerPort: number;
  readonly detours?: readonly Detour[];
  /** Default: alone. */
  readonly member?: ClusterMember;
  /** Further options of the Java machine. */
  readonly jvmOptions: readonly string[];
}

/** Arguments for `java` up to and including the class to run. */
export const javaArguments = (
  runtime: BrokerRuntime,
  jvmOptions: readonly string[],
  mainClass: string,
): string[] => [...SMALL_JVM, ...jvmOptions, '-cp', runtime.classPath, mainClass];

export const brokerDataFolder = (folder: string): string => join(folder, 'data');

/** Writes `server.properties` and gives its path. */
export async function writeBrokerProperties(launch: BrokerLaunch, logDir: string): Promise<string> {
  const path = join(launch.folder, 'server.properties');
  await writeFile(path, brokerProperties({ ...launch, logDir }));
  return path;
}

/** Starts the broker and resolves when it serves; when it does not, ends it and throws with its last words. */
export async function launchBroker(runtime: BrokerRuntime, launch: BrokerLaunch): Promise<GuardedProcess> {
  const propertiesFile = await writeBrokerProperties(launch, brokerDataFolder(launch.folder));
  const logFile = join(launch.folder, 'kafka.log');
  const args = [...javaArguments(runtime, launch.jvmOptions, 'kafka.Kafka'), propertiesFile];
  const broker = spawnGuarded(runtime.java, args, {
    cwd: launch.folder,
    logFile,
    // Java reads file names in the encoding of the locale; in the plain C locale it finds no /home/josé.
    env: { LC_ALL: 'C.UTF-8' },
    stopGraceMs: ANSWER_DEADLINE_MS,
  });
  await rememberEngine(launch.folder, broker.pid);
  const obstacle = await awaitBroker(`127.0.0.1:${launch.port}`, {
    deadlineMs: READY_DEADLINE_MS,
    givenUp: () => broker.exitReason() !== undefined,
  });
  if (obstacle === undefined) return broker;
  const reason = broker.exitReason() ?? `not ready after ${READY_DEADLINE_MS / 1_000} s: ${obstacle}`;
  broker.kill();
  await broker.exited;
  throw new Error(
    `Apache Kafka did not start (${reason}; whole log: ${logFile}):\n${await broker.lastWords()}`,
  );
}
