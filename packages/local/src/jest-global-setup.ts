import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allOrFirstFault } from './engine/closers.js';
import { startKafkaContainer } from './kafka/kafka-container.js';
import { startKafka } from './kafka/start-kafka.js';
import type { Log } from './engine/wait.js';
import { startMongoContainer } from './mongo/mongo-container.js';
import { startMongo } from './mongo/start-mongo.js';
import { namedAddress } from './engine/engine-lifecycle.js';

/** Closers of what setup has opened, the folder's first. Setup and teardown both run in jest's parent process. */
const openedBySetup: (() => Promise<void>)[] = [];

/**
 * Starts a Kafka and a MongoDB for each jest worker and passes their addresses to the tests. Each is a container, else an embedded one. The
 * engine that the environment names is used by all workers.
 */
export default async function startEnginesForJest({ maxWorkers }: { maxWorkers: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'webhooks-jest-engines-'));
  openedBySetup.push(() => rm(folder, { recursive: true, force: true }));
  const log = (line: string) => process.stderr.write(`· ${line}\n`);
  const forWorkers = (variable: 'KAFKA_BROKERS' | 'MONGODB_URI', open: typeof openKafka) => {
    const engines = namedAddress(variable) === undefined ? maxWorkers : 1;
    const folders = Array.from({ length: engines }, (_, worker) => join(folder, `${variable}-${worker}`));
    const opening = allOrFirstFault(folders.map((dataDir) => open(dataDir, log)));
    return opening.then((addresses) => {
      process.env[`TEST_${variable}`] = addresses.join(' ');
    });
  };
  await allOrFirstFault([forWorkers('KAFKA_BROKERS', openKafka), forWorkers('MONGODB_URI', openMongo)]).catch(
    async (fault: unknown) => {
      await closeEngines();
      throw fault;
    },
  );
}

async function openKafka(dataDir: string, log: Log): Promise<string> {
  const isNamed = namedAddress('KAFKA_BROKERS') !== undefined;
  const kafka =
    (isNamed ? undefined : await startKafkaContainer(log)) ?? (await startKafka({ dataDir, log }));
  openedBySetup.push(() => kafka.stop(0));
  return kafka.brokers.join(',');
}

async function openMongo(dataDir: string, log: Log): Promise<string> {
  const isNamed = namedAddress('MONGODB_URI') !== undefined;
  const mongo =
    (isNamed ? undefined : await startMongoContainer(log)) ?? (await startMongo({ dataDir, log }));
  openedBySetup.push(() => mongo.stop(0));
  return mongo.uri();
}

/** Closes what setup has opened: engines together, at once, because their data is discarded; then their folder. */
export async function closeEngines(): Promise<void> {
  const [removeFolder, ...ends] = openedBySetup.splice(0);
  await Promise.all(ends.map((end) => end()));
  await removeFolder?.();
}
