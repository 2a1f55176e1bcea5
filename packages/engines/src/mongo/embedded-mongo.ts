import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { awaitFreeDataFolder } from '../data-folder.js';
import { superviseEngine } from '../engine-lifecycle.js';
import { errorText } from '../error-text.js';
import { onFreePorts } from '../free-port.js';
import { withDatabase } from './connection-string.js';
import type { MongoEngine, MongoSettings } from './mongo-engine.js';
import { embeddedUri, launchMongo, type MongoProgram } from './mongo-program.js';
import { downloadMongod, findInstalledMongod } from './mongod.js';
import { findSecantus, secantusIsCached } from './secantus.js';

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

/** `mongod` where there is one or where it can be had, else SecantusDB; a data folder stays with what wrote it. */
async function chooseProgram({ dataDir, log }: MongoSettings): Promise<MongoProgram> {
  const writtenBySecantus = existsSync(join(dataDir, 'secantus')) && !existsSync(join(dataDir, 'mongod'));
  if (!writtenBySecantus) {
    const installed = await findInstalledMongod();
    if (installed) return installed;
    const downloaded = (await secantusIsCached()) ? undefined : await downloadMongod(log);
    if (downloaded) return downloaded;
  }
  try {
    return await findSecantus(log);
  } catch (cause) {
    throw new Error(
      `No MongoDB-compatible database is available: ${errorText(cause)}\n` +
        'Ways out: set MONGODB_URI to a running one; install mongod (PATH or MONGOMS_SYSTEM_BINARY); ' +
        'use ENGINES=containers with Docker; or let pip reach PyPI for SecantusDB.',
      { cause },
    );
  }
}
