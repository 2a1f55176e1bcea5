import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openedBySetup } from './jest-running-engines.js';
import { startKafka } from './kafka/start-kafka.js';
import { startMongo } from './mongo/start-mongo.js';

const FOLDER_PREFIX = 'webhooks-jest-engines-';
const ABANDONED_AFTER_MS = 86_400_000;

interface StartedEngine {
  readonly kind: string;
  stop(): Promise<void>;
  kill(): void;
}

/** Starts one Kafka and one MongoDB for the whole run and passes their addresses to the tests. */
export default async function startEnginesForJest(): Promise<void> {
  await removeAbandonedFolders();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  openedBySetup.push(() => rm(folder, { recursive: true, force: true }));
  const log = (line: string) => process.stderr.write(`· ${line}\n`);
  const results = await Promise.allSettled([
    startKafka({ dataDir: join(folder, 'kafka'), log }).then((kafka) => {
      openedBySetup.push(() => endQuickly(kafka));
      process.env['TEST_KAFKA_BROKERS'] = kafka.brokers.join(',');
    }),
    startMongo({ dataDir: join(folder, 'mongo'), log }).then((mongo) => {
      openedBySetup.push(() => endQuickly(mongo));
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
  const [removeFolder, ...ends] = openedBySetup.splice(0);
  await Promise.all(ends.map((end) => end()));
  await removeFolder?.();
}

/** The data is thrown away, so a child process need not end in order: that would cost two seconds of each run. */
async function endQuickly(engine: StartedEngine): Promise<void> {
  if (engine.kind === 'embedded') engine.kill();
  await engine.stop();
}

/** Removes what runs that were killed left behind more than a day ago. */
async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const path = join(tmpdir(), name);
    const seen = await stat(path).catch(() => undefined);
    if (seen && Date.now() - seen.mtimeMs > ABANDONED_AFTER_MS)
      await rm(path, { recursive: true, force: true });
  }
}
