import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allOrFirstFault } from './engine/closers.js';
import type { RunningContainer } from './engine/container.js';
import { startKafkaContainer } from './kafka/kafka-container.js';
import { startKafka } from './kafka/start-kafka.js';
import type { KafkaEngine } from './kafka/start-kafka.js';
import type { Log } from './engine/wait.js';
import { startMongoContainer } from './mongo/mongo-container.js';
import { startMongo } from './mongo/start-mongo.js';
import type { MongoEngine } from './mongo/start-mongo.js';
import { namedAddress } from './engine/engine-lifecycle.js';

/** Closers of what setup has opened, the folder's first. Setup and teardown both run in jest's parent process. */
const openedBySetup: (() => Promise<void>)[] = [];

/**
 * Starts one Kafka and one MongoDB for the whole run and passes their addresses to the tests. Each is the one that the environment names,
 * else a container, else an embedded one.
 */
export default async function startEnginesForJest(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'webhooks-jest-engines-'));
  openedBySetup.push(() => rm(folder, { recursive: true, force: true }));
  const log = (line: string) => process.stderr.write(`· ${line}\n`);
  await allOrFirstFault([
    openKafka(join(folder, 'kafka'), log).then((brokers) => {
      process.env['TEST_KAFKA_BROKERS'] = brokers.join(',');
    }),
    openMongo(join(folder, 'mongo'), log).then((uri) => {
      process.env['TEST_MONGODB_URI'] = uri;
    }),
  ]).catch(async (fault: unknown) => {
    await closeEngines();
    throw fault;
  });
}

async function openKafka(dataDir: string, log: Log): Promise<readonly string[]> {
  const isNamed = namedAddress('KAFKA_BROKERS') !== undefined;
  const kafka =
    (isNamed ? undefined : await startKafkaContainer(log)) ?? (await startKafka({ dataDir, log }));
  openedBySetup.push(() => endQuickly(kafka));
  return kafka.brokers;
}

async function openMongo(dataDir: string, log: Log): Promise<string> {
  const isNamed = namedAddress('MONGODB_URI') !== undefined;
  const mongo =
    (isNamed ? undefined : await startMongoContainer(log)) ?? (await startMongo({ dataDir, log }));
  openedBySetup.push(() => endQuickly(mongo));
  return mongo.uri();
}

/** Closes what setup has opened: engines together, then their folder. */
export async function closeEngines(): Promise<void> {
  const [removeFolder, ...ends] = openedBySetup.splice(0);
  await Promise.all(ends.map((end) => end()));
  await removeFolder?.();
}

/** Kills a child process, because its data is discarded. An orderly end would add two seconds to each run. */
async function endQuickly(engine: RunningContainer | KafkaEngine | MongoEngine): Promise<void> {
  if ('kind' in engine && engine.kind === 'embedded') engine.kill();
  await engine.stop();
}
