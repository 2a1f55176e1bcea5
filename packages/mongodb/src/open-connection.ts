import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  errorFields,
  Gauge,
  repeatUntilClose,
  withDeadline,
  type ServiceScope,
  type SettingsReader,
} from '@webhooks/runtime';
import { createConnection, type Connection, type mongo } from 'mongoose';
import { describeFault } from './describe-fault.js';

const MONGODB_URI = /^mongodb(?:\+srv)?:\/\/[^/?]+(?:\/([^?]*))?(?:\?.*)?$/;

function parseMongoUri(text: string, fallback: string) {
  const parts = MONGODB_URI.exec(text);
  if (!parts) throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  return { uri: text, database: decodeURIComponent(parts[1] || fallback) };
}

/** Reads `MONGODB_URI`. `database` is used when the connection string names none. */
export function readMongodbSettings(settings: SettingsReader, database: string) {
  const parsed = settings.parsed('MONGODB_URI', undefined, (text) => parseMongoUri(text, database));
  return {
    uri: '',
    database,
    ...parsed,
    /** The file that contains the connection string. It is read again; undefined: the string does not change. */
    uriFile: settings.fileOf('MONGODB_URI'),
  };
}

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

/** Options of every connection. */
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

/** The options of a connection string that name files. */
const TLS_FILE = /[?&]tls(?:CA|CRL|CertificateKey)File=([^&]+)/gi;

/** Reads the connection string, and a hash of it and of all files that it names. Rejects when a file cannot be read. */
async function readSource({ uri: first, uriFile, database }: MongodbSettings) {
  const text = uriFile === undefined ? first : await readFile(uriFile, 'utf8');
  const { uri, database: named } = parseMongoUri(text.trimEnd(), database);
  if (uriFile !== undefined && named !== database)
    throw new Error(`MONGODB_URI names another database than ${database}: restart the service`);
  const files = [...uri.matchAll(TLS_FILE)].map(([, file = '']) => decodeURIComponent(file));
  const contents = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return { uri, stamp: hash('sha256', [uri, ...contents].join('\n')) };
}

/** Opens connections: the one in use, and those before it until their statements have ended. */
function createOpener<M>(
  settings: MongodbSettings,
  { socketMs = REQUEST_MS, modelsOn, prepare }: ConnectionOptions<M>,
  watch: (client: mongo.MongoClient) => void = () => undefined,
) {
  const open = new Set<Connection>();
  let current: { readonly connection: Connection; readonly models: M; readonly stamp: string } | undefined;
  const close = async (connection: Connection): Promise<void> => {
    open.delete(connection);
    await connection.destroy();
  };
  // A connection that cannot be closed ends with its sockets, which have a time-out.
  const closeUnused = (connection: Connection): void => {
    close(connection).catch(() => undefined);
  };
  return {
    /** The models of the connection in use. */
    models: () => current?.models,
    /** Connects, unless nothing has changed since the last time. Returns whether another connection is used now. */
    renew: async (): Promise<boolean> => {
      const { uri, stamp } = await readSource(settings);
      if (stamp === current?.stamp) return false;
      const connection = createConnection();
      open.add(connection);
      try {
        await connection.openUri(uri, { ...OPTIONS, socketTimeoutMS: socketMs, dbName: settings.database });
        watch(connection.getClient());
        const models = modelsOn(connection);
        if (current === undefined) await prepare?.(models);
        else setTimeout(closeUnused, socketMs, current.connection).unref();
        current = { connection, models, stamp };
        return true;
      } catch (error) {
        closeUnused(connection);
        throw error;
      }
    },
    ping: async () => current?.connection.db?.command({ ping: 1 }),
    close: () => Promise.all([...open].map(close)).then(() => undefined),
  };
}

/** Creates or finds a gauge with a value for each pool of a service. */
const poolGauge = ({ registry }: ServiceScope, name: string, help: string) =>
  (registry.getSingleMetric(name) ??
    new Gauge({ name, help, labelNames: ['pool'], registers: [registry] })) as Gauge<'pool'>;

/** Exports how long the database takes for a ping, and how many connections are in use. */
function createMeters(pool: string, scope: ServiceScope) {
  const used = poolGauge(scope, 'database_connections_in_use', `Connections in use, of ${MAX_POOL_SIZE}`);
  const ping = poolGauge(scope, 'database_ping_seconds', 'Time of the latest ping; absent while it fails');
  used.set({ pool }, 0);
  return {
    watch: (client: mongo.MongoClient): void => {
      client.on('connectionCheckedOut', () => used.inc({ pool }));
      client.on('connectionCheckedIn', () => used.dec({ pool }));
    },
    pinged: (seconds: number): void => ping.set({ pool }, seconds),
    failed: (): void => ping.remove({ pool }),
  };
}

/**
 * Connects to MongoDB and stays connected. While the server is down, it retries each second and the service is not
 * ready. Resolves after the first try with a function that returns the models, or undefined until the first
 * connection is prepared. The connection string's file, and the files that it names, are read each second. Changed ones
 * are used by a new connection. If they are refused, the one before stays and the log has the fault.
 */
export async function openConnection<M>(
  settings: MongodbSettings,
  { name = 'database', ...options }: ConnectionOptions<M>,
  scope: ServiceScope,
): Promise<() => M | undefined> {
  const meters = createMeters(name, scope);
  const { models, renew, ping, close } = createOpener(settings, options, meters.watch);
  const { log, health, onClose } = scope;
  let fault: string | undefined;

  const check = async (): Promise<void> => {
    try {
      if (models() === undefined) await renew();
      const began = performance.now();
      await withDeadline(ping(), SELECTION_MS, 'the ping');
      meters.pinged((performance.now() - began) / 1_000);
      if (fault !== undefined) log.info('the database is reachable again');
      fault = undefined;
    } catch (error) {
      meters.failed();
      if (fault === undefined) log.warn('the database is unreachable', errorFields(error));
      fault = `the database is unreachable: ${describeFault(error)}`;
    }
  };
  const work = async (): Promise<void> => {
    await check();
    if (models() !== undefined && (await renew()))
      log.info('the database is used by changed files', { name });
  };
  await check();
  onClose(name, close);
  repeatUntilClose({ name: 'renewing the connection to the database', everyMs: PAUSE_MS, work }, scope);
  health.readiness(name, () => fault);
  return models;
}

/** Connects once, with the options of every connection, for a program that ends with its work. Rejects when it cannot connect. */
export async function withConnection<M, T>(
  settings: MongodbSettings,
  modelsOn: (connection: Connection) => M,
  work: (models: M) => Promise<T>,
): Promise<T> {
  const { models, renew, close } = createOpener(settings, { modelsOn });
  try {
    await renew();
    const opened = models();
    if (opened === undefined) throw new Error('the connection has no models');
    return await work(opened);
  } finally {
    await close();
  }
}

/**
 * Connects once and lists the collections, which needs the user's rights. Writes nothing. Resolves with a sentence.
 * Rejects with the fault and its fix, within seconds.
 */
export async function checkMongo(settings: MongodbSettings): Promise<string> {
  const list = async ({ db }: Connection) => db?.listCollections({}, { nameOnly: true }).toArray();
  try {
    await withConnection(settings, (connection) => connection, list);
    return `MongoDB responds, and lists the collections of ${settings.database}`;
  } catch (error) {
    throw new Error(describeFault(error), { cause: error });
  }
}
