import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFolder } from '../cache/cached-folder.js';
import { lastLines, runCommand } from '../command.js';
import { freePort } from '../free-port.js';
import { withProgress, type Log } from '../log.js';
import { pollUntil } from '../poll.js';
import {
  brokerDataFolder,
  javaArguments,
  launchBroker,
  writeBrokerProperties,
  type BrokerRuntime,
} from './broker-process.js';
import { brokerProperties } from './broker-properties.js';
import { quietKafka } from './quiet-kafkajs.js';

const FORMAT_TIMEOUT_MS = 60_000;
const INTERNAL_TOPIC_DEADLINE_MS = 30_000;
/** Formatted once for all: the id of a cluster of one machine means nothing to anybody. */
const CLUSTER_ID = 'RW1iZWRkZWRLYWZrYS0xMg';
const ARCHIVE = 'kafka.jsa';

export interface BrokerTemplate {
  /** A formatted data folder with the topics for offsets and transactions, to be copied. */
  readonly dataFolder: string;
  /** Options that use the class-data archive (AppCDS), when Java could write one. */
  readonly jvmOptions: readonly string[];
}

/** Prepares, once for each Java and set of jars, what makes a start take one second instead of four. */
export async function ensureBrokerTemplate(
  runtime: BrokerRuntime,
  jarsFingerprint: string,
  log: Log,
): Promise<BrokerTemplate> {
  const settings = brokerProperties({ port: 0, controllerPort: 0, logDir: '' });
  const key = createHash('sha256')
    .update([jarsFingerprint, runtime.classPath, runtime.java.version, settings].join('\0'))
    .digest('hex')
    .slice(0, 16);
  const folder = await cachedFolder(`kafka-template-${key}`, log, (target) =>
    withProgress(log, 'preparing Apache Kafka for quick starts', () => makeTemplate(runtime, target)),
  );
  const archive = join(folder, ARCHIVE);
  return {
    dataFolder: brokerDataFolder(folder),
    jvmOptions: existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [],
  };
}

async function makeTemplate(runtime: BrokerRuntime, folder: string): Promise<void> {
  const place = { folder, port: await freePort(), controllerPort: await freePort() };
  await formatData(runtime, await writeBrokerProperties(place), folder);
  const jvmOptions = [`-XX:ArchiveClassesAtExit=${join(folder, ARCHIVE)}`];
  const broker = await launchBroker(runtime, { ...place, jvmOptions });
  try {
    await makeInternalTopics([`127.0.0.1:${place.port}`]);
  } finally {
    await broker.stop();
  }
  await rm(join(brokerDataFolder(folder), '.lock'), { force: true });
}

/** Makes `data` in the folder of a properties file: `StorageTool format`. */
export async function formatData(
  runtime: BrokerRuntime,
  propertiesFile: string,
  folder: string,
): Promise<void> {
  const args = ['format', '--cluster-id', CLUSTER_ID, '--config', propertiesFile];
  const { code, output } = await runCommand(
    runtime.java.command,
    [...javaArguments(runtime, [], 'kafka.tools.StorageTool'), ...args],
    { timeoutMs: FORMAT_TIMEOUT_MS, cwd: folder, env: { LC_ALL: 'C.UTF-8' } },
  );
  if (code !== 0) throw new Error(`Apache Kafka could not format a data folder: ${lastLines(output, 5)}`);
}

/**
 * The first question about offsets and the first transaction create the broker's internal topics. On a fresh cluster
 * a group's first join could otherwise meet a coordinator that is still loading, which crashes a kafkajs consumer.
 */
export async function makeInternalTopics(brokers: readonly string[]): Promise<void> {
  const kafka = quietKafka(brokers, 40);
  const admin = kafka.admin();
  await admin.connect();
  await untilDone('the topic for offsets', () => admin.fetchOffsets({ groupId: 'template', topics: [] }));
  const producer = kafka.producer({ transactionalId: 'template', maxInFlightRequests: 1 });
  await untilDone('the topic for transactions', async () => {
    await producer.connect();
    await (await producer.transaction()).abort();
  });
  await producer.disconnect();
  await admin.disconnect();
}

/** Tries again until it works: while a coordinator loads, kafkajs throws instead of waiting. */
async function untilDone(what: string, work: () => Promise<unknown>): Promise<void> {
  let last: unknown;
  const done = await pollUntil(
    async () => {
      try {
        await work();
        return true;
      } catch (error) {
        last = error;
        return false;
      }
    },
    { deadlineMs: INTERNAL_TOPIC_DEADLINE_MS, everyMs: 100 },
  );
  if (!done) throw new Error(`${what} did not become available`, { cause: last });
}

/**
 * Gives `folder` a data folder when it has none. The copy appears whole or not at all; a folder that was left
 * without Kafka's own mark (`meta.properties`) is put aside, not deleted.
 */
export async function copyTemplate(
  template: Pick<BrokerTemplate, 'dataFolder'>,
  folder: string,
  log: Log,
): Promise<void> {
  const target = brokerDataFolder(folder);
  if (existsSync(join(target, 'meta.properties'))) return;
  if (existsSync(target)) {
    const aside = `${target}.incomplete-${Date.now()}`;
    await rename(target, aside);
    log(`${target} was not a complete Kafka folder (interrupted by a crash?): moved to ${aside}`);
  }
  const unfinished = `${target}.copying`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(template.dataFolder, unfinished, { recursive: true });
  await rename(unfinished, target);
}
