import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { awaitFreeDataFolder } from '../engine/data-folder.js';
import { superviseEngine } from '../engine/engine-lifecycle.js';
import { errorText } from '../engine/error-text.js';
import { onFreePorts } from '../engine/free-port.js';
import { withDatabase } from './connection-string.js';
import type { MongoEngine, MongoSettings } from './mongo-engine.js';
import { runCommand } from '../engine/command.js';
import { embeddedUri, launchMongo, type MongoProgram } from './mongo-program.js';
import { findSecantus } from './secantus.js';

/** A MongoDB-compatible database as a child process, reachable at 127.0.0.1 only. */
export async function startEmbeddedMongo(
  settings: MongoSettings,
): Promise<MongoEngine & { readonly title: string }> {
  const { dataDir, log } = settings;
  await mkdir(dataDir, { recursive: true });
  const program = await chooseProgram(settings);
  return onFreePorts(settings.port, async (port) => {
    const lifecycle = await superviseEngine(async () => {
      await awaitFreeDataFolder(dataDir, log);
      return launchMongo(program, dataDir, port);
    });
    const base = embeddedUri(port);
    return Object.assign(lifecycle, {
      kind: 'embedded' as const,
      title: program.title,
      uri: (database?: string) => (database === undefined ? base : withDatabase(base, database)),
    });
  });
}

/** `mongod` where there is one, else SecantusDB; a data folder stays with what wrote it. */
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

/** The `mongod` of the PATH. */
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
