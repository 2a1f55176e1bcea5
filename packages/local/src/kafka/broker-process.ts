import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchEngine } from '../engine/engine-lifecycle.js';
import type { GuardedProcess } from '../engine/guarded-process.js';
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
  /** Folder that the first start on this machine has left: `data` with the internal topics, and the class archive. */
  readonly template?: string;
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
): string[] => [...SMALL_JVM, ...sharedClasses(runtime), ...jvmOptions, '-cp', runtime.classPath, mainClass];

/**
 * Loaded classes from an archive halve the CPU time of a start. Java goes on without one that is missing or of another Java;
 * `cds=off` keeps it from printing that as an error.
 */
const sharedClasses = ({ template }: BrokerRuntime): string[] =>
  template === undefined ? [] : [`-XX:SharedArchiveFile=${classArchive(template)}`, '-Xlog:cds=off:stderr'];

export const classArchive = (template: string): string => join(template, 'classes.jsa');

export const brokerDataFolder = (folder: string): string => join(folder, 'data');

/** Writes `server.properties` and gives its path. */
export async function writeBrokerProperties(launch: BrokerLaunch, logDir: string): Promise<string> {
  const path = join(launch.folder, 'server.properties');
  await writeFile(path, brokerProperties({ ...launch, logDir }));
  return path;
}

/** Starts the broker and resolves when it serves. */
export async function launchBroker(runtime: BrokerRuntime, launch: BrokerLaunch): Promise<GuardedProcess> {
  const propertiesFile = await writeBrokerProperties(launch, brokerDataFolder(launch.folder));
  return launchEngine({
    title: 'Apache Kafka',
    folder: launch.folder,
    logName: 'kafka.log',
    command: runtime.java,
    args: [...javaArguments(runtime, launch.jvmOptions, 'kafka.Kafka'), propertiesFile],
    // Java reads file names in the encoding of the locale; in the plain C locale it finds no /home/josé.
    env: { LC_ALL: 'C.UTF-8' },
    awaitReady: (pollOptions) => awaitBroker(`127.0.0.1:${launch.port}`, pollOptions),
  });
}
