import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { externalEngine, superviseEngine, namedAddress } from '../engine/engine-lifecycle.js';
import type { EngineLifecycle } from '../engine/engine-lifecycle.js';
import { RESPONSE_DEADLINE_MS } from '../engine/wait.js';
import type { Log } from '../engine/wait.js';
import { awaitMongo, embeddedUri, launchMongo, type MongoProgram } from './mongo-program.js';
import { awaitFreeDataFolder } from '../engine/folders.js';
import { errorText, runCommand } from '../engine/command.js';
import { freePort } from '../engine/free-port.js';
import { findSecantus } from './secantus.js';

interface MongoOptions {
  /** Data folder of the embedded database; created when missing, not removed by `stop`. */
  readonly dataDir: string;
  /** Preferred port of the embedded database. Default, and when it is in use: a free one. */
  readonly port?: number;
  /** Receives which database is used, and the progress of steps that take longer than two seconds. Default: nothing is logged. */
  readonly log?: Log;
}

type MongoSettings = MongoOptions & { readonly log: Log };

export interface MongoEngine extends EngineLifecycle {
  /** Returns the connection string for `database`; without an argument, the server's. */
  uri(database?: string): string;
}

const PARTS = /^(mongodb(?:\+srv)?:\/\/)([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;

/**
 * Returns `base` with another database. Credentials without `authSource` are still checked against the database in `base`, or `admin`.
 * Throws for any other text than a connection string.
 */
export function withDatabase(base: string, database: string): string {
  const [, scheme, authority, named, query = ''] = PARTS.exec(base) ?? [];
  if (scheme === undefined || authority === undefined) {
    throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  }
  const options = new URLSearchParams(query);
  if (authority.includes('@')) keepAuthSource(options, named);
  const path = `${scheme}${authority}/${encodeURIComponent(database)}`;
  return options.size === 0 ? path : `${path}?${options.toString()}`;
}

function keepAuthSource(options: URLSearchParams, named: string | undefined): void {
  if (!options.has('authSource')) options.set('authSource', decodeURIComponent(named || 'admin'));
}

/** Uses the server at `address` (a connection string). Throws when it does not respond within the deadline, default 15 s. */
export async function useMongoAddress(
  address: string,
  deadlineMs = RESPONSE_DEADLINE_MS,
): Promise<MongoEngine> {
  const obstacle = await awaitMongo(address, { deadlineMs });
  if (obstacle !== undefined) {
    throw new Error(
      `MONGODB_URI: no response within ${deadlineMs / 1_000} s (${obstacle}). ` +
        'Start the server, correct the address, or unset MONGODB_URI to use the embedded database.',
    );
  }
  return {
    ...externalEngine('MONGODB_URI'),
    uri: (database) => (database === undefined ? address : withDatabase(address, database)),
  };
}

/** Starts a MongoDB-compatible database as a child process, reachable at 127.0.0.1 only. */
export async function startEmbeddedMongo(
  settings: MongoSettings,
): Promise<MongoEngine & { readonly title: string }> {
  const { dataDir, log } = settings;
  await mkdir(dataDir, { recursive: true });
  const program = await chooseProgram(settings);
  const port = await freePort(settings.port);
  const lifecycle = await superviseEngine(async () => {
    await awaitFreeDataFolder(dataDir, log);
    return launchMongo(program, dataDir, port);
  });
  const base = embeddedUri(port);
  return Object.assign(lifecycle, {
    title: program.title,
    uri: (database?: string) => (database === undefined ? base : withDatabase(base, database)),
  });
}

/** Chooses `mongod` if it is installed, else SecantusDB. A data folder that SecantusDB wrote stays with it. */
async function chooseProgram({ dataDir, log }: MongoSettings): Promise<MongoProgram> {
  const writtenBySecantus = existsSync(join(dataDir, 'secantus')) && !existsSync(join(dataDir, 'mongod'));
  if (!writtenBySecantus) {
    const installed = await findMongod();
    if (installed) return installed;
  }
  try {
    return await findSecantus(log);
  } catch (cause) {
    throw new Error(
      `No MongoDB-compatible database is available: ${errorText(cause)}\n` +
        'Ways out: set MONGODB_URI to a running one; install mongod on the PATH; or let pip reach PyPI for SecantusDB.',
      { cause },
    );
  }
}

/** Returns the `mongod` on the PATH; undefined when there is none. */
async function findMongod(): Promise<MongoProgram | undefined> {
  const { code } = await runCommand('mongod', ['--version'], { timeoutMs: 10_000 });
  if (code !== 0) return undefined;
  return {
    name: 'mongod',
    title: 'mongod',
    command: 'mongod',
    env: {},
    configFile: { name: 'mongod.conf', text: '' },
    args: ({ port, dataFolder, configPath }) => [
      ...['--config', configPath, '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', dataFolder],
      ...['--storageEngine', 'wiredTiger', '--wiredTigerCacheSizeGB', '0.25', '--nounixsocket'],
    ],
  };
}

/**
 * Uses the server that MONGODB_URI names, otherwise starts `mongod` or SecantusDB as a child process. Logs which one. Errors say how to fix
 * their cause.
 */
export async function startMongo(options: MongoOptions): Promise<MongoEngine> {
  const log = options.log ?? (() => undefined);
  const address = namedAddress('MONGODB_URI');
  if (address !== undefined) {
    log('MongoDB: the server named by MONGODB_URI');
    return useMongoAddress(address);
  }
  const mongo = await startEmbeddedMongo({ ...options, log, dataDir: resolve(options.dataDir) });
  log(`MongoDB: embedded ${mongo.title} at ${new URL(mongo.uri()).host}`);
  return mongo;
}
