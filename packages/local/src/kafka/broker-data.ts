import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../engine/command.js';
import { READY_DEADLINE_MS, untilClear } from '../engine/wait.js';
import type { Log } from '../engine/wait.js';
import { brokerDataFolder, createUnloggedKafka, runTool, writeBrokerProperties } from './broker-process.js';
import type { BrokerLaunch, BrokerRuntime } from './broker-process.js';

/** An arbitrary id, the same for every local cluster. */
const CLUSTER_ID = 'RW1iZWRkZWRLYWZrYS0xMg';

/**
 * Creates the broker's data folder when it is missing. A single broker gets a copy of the template's folder. A cluster node's folder is
 * formatted, because it contains the node's id. The folder appears atomically. An incomplete one, without Kafka's `meta.properties`, is
 * renamed and not deleted.
 */
export async function ensureData(runtime: BrokerRuntime, launch: BrokerLaunch, log: Log): Promise<void> {
  const target = brokerDataFolder(launch.folder);
  if (existsSync(join(target, 'meta.properties'))) return;
  if (existsSync(target)) {
    const aside = `${target}.incomplete-${Date.now()}`;
    await rename(target, aside);
    log(`${target} was not a complete Kafka folder (interrupted by a crash?): moved to ${aside}`);
  }
  await mkdir(launch.folder, { recursive: true });
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  if (runtime.template === undefined || launch.member !== undefined) {
    const properties = await writeBrokerProperties(launch, unfinished);
    const command = ['format', '--cluster-id', CLUSTER_ID, '--config', properties];
    await runTool(runtime, launch.folder, ['kafka.tools.StorageTool', ...command]);
  } else await cp(brokerDataFolder(runtime.template), unfinished, { recursive: true });
  await rename(unfinished, target);
}

/**
 * Creates the broker's internal topics, by a first request for offsets and a first transaction. Otherwise, on a fresh cluster, a group's
 * first join could meet a coordinator that is still loading, which crashes a kafkajs consumer.
 */
export async function makeInternalTopics(brokers: readonly string[]): Promise<void> {
  const kafka = createUnloggedKafka(brokers, 40);
  const admin = kafka.admin();
  await admin.connect();
  await untilDone('the topic for offsets', () => admin.fetchOffsets({ groupId: 'engines', topics: [] }));
  const producer = kafka.producer({ transactionalId: 'engines', maxInFlightRequests: 1 });
  await untilDone('the topic for transactions', async () => {
    await producer.connect();
    await (await producer.transaction()).abort();
  });
  await producer.disconnect();
  await admin.disconnect();
}

/** Retries `work` until it succeeds, because kafkajs throws while a coordinator loads. */
async function untilDone(what: string, work: () => Promise<unknown>): Promise<void> {
  const pollOptions = { deadlineMs: READY_DEADLINE_MS, everyMs: 100 };
  const obstacle = await untilClear(() => work().then(() => undefined, errorText), pollOptions);
  if (obstacle !== undefined) throw new Error(`${what} did not become available: ${obstacle}`);
}
