import { errorFields, withDeadline } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { createConnection } from 'mongoose';
import type { Connection } from 'mongoose';
import type { MongodbSettings } from './config.js';
import { modelOn } from './configuration-model.js';
import type { ConfigurationModel } from './configuration-model.js';
import { RecentMap } from './recent-map.js';
import { repeat } from './repeat.js';

/** What this process wrote and saw acknowledged by a majority: spares statements whose answer is known. */
export interface WriteMemory {
  /** The last place that was given, by tenant. */
  readonly positions: RecentMap<string, number>;
  /** The revision, by key. */
  readonly revisions: RecentMap<string, number>;
}

export interface Database {
  readonly memory: WriteMemory;
  /** Undefined until the first connection stands and the unique indexes with it: without them nothing may be written. */
  model(): ConfigurationModel | undefined;
}

const SELECTION_MS = 2_000;
/** Longer than any statement here takes; a server that went silent is given up after it. */
const SOCKET_MS = 4_000;
const PAUSE_MS = 1_000;
const PING_MS = 2_000;
const REMEMBERED = 10_000;

const OPTIONS = {
  bufferCommands: false,
  autoIndex: false,
  autoCreate: false,
  serverSelectionTimeoutMS: SELECTION_MS,
  connectTimeoutMS: SELECTION_MS,
  socketTimeoutMS: SOCKET_MS,
  waitQueueTimeoutMS: SELECTION_MS,
  maxPoolSize: 50,
  // An answer of 200 is a promise: the write survives the loss of any one server, and what is read is not rolled back.
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
} as const;

async function ping(connection: Connection): Promise<void> {
  await connection.db?.command({ ping: 1 });
}

/** Says `fault` and its end once each, however often it is tried in between. */
function createStateLog({ log }: ServiceScope): (error: unknown) => string | undefined {
  let down = false;
  return (error) => {
    const isDown = error !== undefined;
    if (isDown && !down) log.warn('the database cannot be reached', errorFields(error));
    if (!isDown && down) log.info('the database is back');
    down = isDown;
    return isDown ? 'the database cannot be reached' : undefined;
  };
}

/**
 * Connects to MongoDB and stays connected: a server that is away at the start or later is tried again until it is there,
 * and meanwhile the service is not ready. Resolves after the first try.
 */
export async function openDatabase(
  { uri, database }: MongodbSettings,
  scope: ServiceScope,
): Promise<Database> {
  const connection = createConnection();
  const model = modelOn(connection);
  const note = createStateLog(scope);
  let prepared = false;
  let fault: string | undefined = 'not connected yet';

  const look = async (): Promise<void> => {
    try {
      if (!prepared) {
        await connection.openUri(uri, { ...OPTIONS, dbName: database });
        await model.createIndexes();
        prepared = true;
      }
      await withDeadline(ping(connection), PING_MS, 'the ping');
      fault = note(undefined);
    } catch (error) {
      fault = note(error);
      if (!prepared) await connection.close().catch(() => undefined);
    }
  };
  await look();
  const watching = repeat({ name: 'watching the database', everyMs: PAUSE_MS, work: look, log: scope.log });
  scope.onClose('database', async () => {
    await watching.stop();
    await connection.close();
  });
  scope.health.readiness('database', () => fault);
  const memory = {
    positions: new RecentMap<string, number>(REMEMBERED),
    revisions: new RecentMap<string, number>(REMEMBERED),
  };
  return { memory, model: () => (prepared ? model : undefined) };
}
