import { errorFields, repeat, withDeadline, type ServiceScope, type SettingsReader } from '@webhooks/runtime';
import { createConnection, type Connection } from 'mongoose';

const MONGODB_URI = /^mongodb(?:\+srv)?:\/\/[^/?]+(?:\/([^?]*))?(?:\?.*)?$/;

function parseMongoUri(text: string, fallback: string) {
  const parts = MONGODB_URI.exec(text);
  if (!parts) throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  return { uri: text, database: decodeURIComponent(parts[1] || fallback) };
}

/** Reads `MONGODB_URI`; `database` is taken when the connection string names none. */
export const readMongodbSettings = (settings: SettingsReader, database: string) =>
  settings.parsed('MONGODB_URI', undefined, (text) => parseMongoUri(text, database)) ?? { uri: '', database };

export type MongodbSettings = ReturnType<typeof readMongodbSettings>;

export interface ConnectionOptions<M> {
  /** Name of its probe in readiness; default `database`. Each pool of a service has its own. */
  readonly name?: string;
  /** A connection without a response for this long is closed, in milliseconds; default 4,000. Must exceed the longest statement. */
  readonly socketMs?: number;
  readonly modelsOn: (connection: Connection) => M;
  /** Makes the indexes, without which nothing may be written. Called after the first connection, until it succeeds. */
  readonly prepare?: (models: M) => Promise<unknown>;
}

/** Longest time of a request's statements, milliseconds. A caller gets a response within 5 s. */
export const REQUEST_MS = 4_000;
const SELECTION_MS = 2_000;
const PAUSE_MS = 1_000;
/** Connections of one pool. */
const MAX_POOL_SIZE = 50;
/** Characters of a cause in readiness. */
const MAX_CAUSE = 300;

const OPTIONS = {
  bufferCommands: false,
  autoIndex: false,
  autoCreate: false,
  serverSelectionTimeoutMS: SELECTION_MS,
  connectTimeoutMS: SELECTION_MS,
  waitQueueTimeoutMS: SELECTION_MS,
  maxPoolSize: MAX_POOL_SIZE,
  // A response of 200 is a promise: the write survives the loss of any one server.
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
} as const;

async function ping(connection: Connection): Promise<void> {
  await connection.db?.command({ ping: 1 });
}

/** Logs the beginning and the end of an outage. Returns the fault in words, without the connection string. */
function createStateLog({ log }: ServiceScope): (error: unknown) => string | undefined {
  let down = false;
  return (error) => {
    const isDown = error !== undefined;
    if (isDown && !down) log.warn('the database cannot be reached', errorFields(error));
    if (!isDown && down) log.info('the database is back');
    down = isDown;
    if (!isDown) return undefined;
    const cause = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, MAX_CAUSE) : 'unknown';
    return `the database cannot be reached: ${cause}`;
  };
}

/**
 * Connects to MongoDB and stays connected. While the server is down, it tries again each second and the service is not ready. Resolves
 * after the first try with a function that gives the models, or undefined until the first connection was prepared.
 */
export async function openConnection<M>(
  { uri, database }: MongodbSettings,
  { name = 'database', socketMs = REQUEST_MS, modelsOn, prepare }: ConnectionOptions<M>,
  scope: ServiceScope,
): Promise<() => M | undefined> {
  const connection = createConnection();
  const note = createStateLog(scope);
  let models: M | undefined;
  let prepared = false;
  let fault: string | undefined = 'not connected yet';

  const look = async (): Promise<void> => {
    try {
      if (!prepared) {
        await connection.openUri(uri, { ...OPTIONS, socketTimeoutMS: socketMs, dbName: database });
        models ??= modelsOn(connection);
        await prepare?.(models);
        prepared = true;
      }
      await withDeadline(ping(connection), SELECTION_MS, 'the ping');
      fault = note(undefined);
    } catch (error) {
      fault = note(error);
      if (!prepared) await connection.close().catch(() => undefined);
    }
  };
  await look();
  const watching = repeat({ name: 'watching the database', everyMs: PAUSE_MS, work: look, log: scope.log });
  scope.onClose(name, async () => {
    await watching.stop();
    await connection.close();
  });
  scope.health.readiness(name, () => fault);
  return () => (prepared ? models : undefined);
}
