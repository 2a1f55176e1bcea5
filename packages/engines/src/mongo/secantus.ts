import { existsSync } from 'node:fs';
import { cachedFolderPath } from '../cache/cached-folder.js';
import type { Log } from '../log.js';
import { ensurePythonPackage, findPython, pythonPackageFolder } from '../python.js';
import type { MongoProgram } from './mongo-program.js';

// Its author removes old pre-releases from PyPI, so an exact version would stop working one day.
const REQUIREMENT = 'SecantusDB>=0.7.0b3,<0.8';
const NAME = 'secantusdb-0.7';

/** Whether SecantusDB was installed before, so that it starts without a network. */
export async function secantusIsCached(): Promise<boolean> {
  try {
    return existsSync(cachedFolderPath(pythonPackageFolder(NAME, await findPython())));
  } catch {
    return false;
  }
}

/**
 * SecantusDB: MongoDB's protocol over WiredTiger, from PyPI, for machines that reach package registries only.
 * A separate program under GPL-2.0, in beta, for small data: not linked, not shipped, not for production.
 */
export async function findSecantus(log: Log): Promise<MongoProgram> {
  const python = await findPython();
  const title = 'SecantusDB (a MongoDB-compatible database, a separate GPL-2.0 program)';
  const folder = await ensurePythonPackage(
    { requirement: REQUIREMENT, name: NAME, title, preRelease: true },
    python,
    log,
  );
  return {
    name: 'secantus',
    title: 'SecantusDB',
    command: python.command,
    env: { PYTHONPATH: folder },
    // An empty configuration file: without one it would read those of the user's and the system's folders.
    configFile: { name: 'secantusd.toml', text: '' },
    // With --sync-on-commit nothing acknowledged was lost in kill -9 tests; without it 30 to 40 of 5,000 writes.
    args: ({ port, dataFolder, configPath }) => [
      ...['-m', 'secantus', '--config', configPath, '--host', '127.0.0.1', '--port', String(port)],
      ...['--storage-path', dataFolder, '--cache-size', '256M', '--log-level', 'WARNING', '--sync-on-commit'],
    ],
  };
}
