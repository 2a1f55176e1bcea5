import { errorFields, repeat, withDeadline, type ServiceScope, type SettingsReader } from '@webhooks/runtime';
import { createConnection, type Connection } from 'mongoose';

const MONGODB_URI = /^mongodb(?:\+srv)?:\/\/[^/?]+(?:\/([^?]*))?(?:\?.*)?$/;

function parseMongoUri(text: string, fallback: string) {
  const parts = MONGODB_URI.exec(text);
  if (!parts) throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  return { uri: text, database: decodeURIComponent(parts[1] || fallback) };
}

/** Reads `MONGODB_URI`. `database` is used when the connection string names none. */
export const readMongodbSettings = (settings: SettingsReader, database: string) =>
  settings.parsed('MONGODB_URI', undefined, (text) => parseMongoUri(text, database)) ?? { uri: '', database };

export type MongodbSettings = ReturnType<typeof readMongodbSettings>;

export interface ConnectionOptions<M> {
  /** Name of the readiness probe; default `database`. Each pool of a service needs its own. */
  readonly name?: string;
  /**
   * A connection without a response for this long is closed, milliseconds; default 4,000. Must exceed the longest
   * statement.
   */
  readonly socketMs?: number;
  /** Creates the models on a connection. */
  readonly modelsOn: (connection: Connection) => M;
  /**
   * Creates the indexes, which must exist before the first write. Called after the first connection, until it
   * succeeds.
   */
  readonly prepare?: (models: M) => Promise<unknown>;
}

/** Longest time of a request's statements, milliseconds. So a caller gets a response within 5 s. */
export const REQUEST_MS = 4_000;
const SELECTION_MS = 2_000;
const PAUSE_MS = 1_000;
/** Most connections of one pool. */
const MAX_POOL_SIZE = 50;
/** Most characters of a cause in readiness. */
const MAX_CAUSE = 300;

const OPTIONS = {
  bufferCommands: false,
  autoIndex: false,
  autoCreate: false,
  serverSelectionTimeoutMS: SELECTION_MS,
  connectTimeoutMS: SELECTION_MS,
  waitQueueTimeoutMS: SELECTION_MS,
  maxPoolSize: MAX_POOL_SIZE,
  // Majority writes, because a response of 200 is a promise: the write survives the loss of any one server.
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
} as const;

async function ping(connection: Connection): Promise<void> {
  await connection.db?.command({ ping: 1 });
}

/**
 * Returns a function that logs the beginning and the end of an outage. It returns the fault as text, without the
 * connection string.
 */
function createStateLog({ log }: ServiceScope): (error: unknown) => string | undefined {
  let down = false;
  return (error) => {
    const isDown = error !== undefined;
    if (isDown && !down) log.warn('the database is unreachable', errorFields(error));
    if (!isDown && down) log.info('the database is reachable again');
    down = isDown;
    if (!isDown) return undefined;
    const cause = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, MAX_CAUSE) : 'unknown';
    return `the database is unreachable: ${cause}`;
  };
}

/**
 * Connects to MongoDB and stays connected. While the server is down, it retries each second and the service is not
 * ready. Resolves after the first try with a function that returns the models, or undefined until the first
 * connection is prepared.
 */
export async function openConnection<M>(
  { uri, database }: MongodbSettings,
  { name = 'database', socketMs = REQUEST_MS, modelsOn, prepare }: ConnectionOptions<M>,
  scope: ServiceScope,
): Promise<() => M | undefined> {
  const connection = createConnection();
  const logState = createStateLog(scope);
  let models: M | undefined;
  let prepared = false;
  let fault: string | undefined = 'not connected yet';

  const check = async (): Promise<void> => {
    try {
      if (!prepared) {
        await connection.openUri(uri, { ...OPTIONS, socketTimeoutMS: socketMs, dbName: database });
        models ??= modelsOn(connection);
        await prepare?.(models);
        prepared = true;
      }
      await withDeadline(ping(connection), SELECTION_MS, 'the ping');
      fault = logState(undefined);
    } catch (error) {
      fault = logState(error);
      if (!prepared) await connection.close().catch(() => undefined);
    }
  };
  await check();
  const checks = repeat({ name: 'watching the database', everyMs: PAUSE_MS, work: check, log: scope.log });
  scope.onClose(name, async () => {
    await checks.stop();
    await connection.close();
  });
  scope.health.readiness(name, () => fault);
  return () => (prepared ? models : undefined);
}
