import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openedBySetup } from './jest-running-engines.js';
import { startKafka } from './kafka/start-kafka.js';
import { startMongo } from './mongo/start-mongo.js';

/** Starts one Kafka and one MongoDB for the whole run and tells the tests where they are. */
export default async function startEnginesForJest(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'webhooks-test-'));
  openedBySetup.push(() => rm(folder, { recursive: true, force: true }));
  const log = (line: string) => process.stderr.write(`· ${line}\n`);
  const results = await Promise.allSettled([
    startKafka({ dataDir: join(folder, 'kafka'), log }).then((kafka) => {
      openedBySetup.push(() => kafka.stop());
      process.env['TEST_KAFKA_BROKERS'] = kafka.brokers.join(',');
    }),
    startMongo({ dataDir: join(folder, 'mongo'), log }).then((mongo) => {
      openedBySetup.push(() => mongo.stop());
      process.env['TEST_MONGODB_URI'] = mongo.uri();
    }),
  ]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) {
    await closeEngines();
    throw failed.reason;
  }
}

/** Closes what setup has opened: engines together, then their folder. */
export async function closeEngines(): Promise<void> {
  const [removeFolder, ...stops] = openedBySetup.splice(0);
  await Promise.all(stops.map((stop) => stop()));
  await removeFolder?.();
}
