import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheRoot } from '../cache/cached-folder.js';
import { runCommand } from '../command.js';
import { beforeDeadline } from '../deadline.js';
import { errorText } from '../error-text.js';
import { withProgress, type Log } from '../log.js';
import type { MongoProgram } from './mongo-program.js';

const PROBE_MS = 2_000;
const DOWNLOAD_MS = 180_000;

function mongodProgram(command: string): MongoProgram {
  return {
    name: 'mongod',
    title: `mongod (${command})`,
    command,
    env: {},
    configFile: { name: 'mongod.conf', text: '' },
    args: ({ port, dataFolder, configPath }) => [
      ...['--config', configPath, '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', dataFolder],
      ...['--storageEngine', 'wiredTiger', '--wiredTigerCacheSizeGB', '0.25', '--nounixsocket'],
    ],
  };
}

/** A `mongod` that is on this machine already: MONGOMS_SYSTEM_BINARY, or the PATH. */
export async function findInstalledMongod(): Promise<MongoProgram | undefined> {
  const named = process.env['MONGOMS_SYSTEM_BINARY'];
  const candidates = [...(named === undefined || named === '' ? [] : [named]), 'mongod'];
  for (const command of candidates) {
    const { code } = await runCommand(command, ['--version'], { timeoutMs: 10_000 });
    if (code === 0) return mongodProgram(command);
  }
  return undefined;
}

/**
 * The `mongod` that mongodb-memory-server-core downloads (or has downloaded) on machines that reach its server.
 * Answers undefined, after at most two seconds, where they do not.
 */
export async function downloadMongod(log: Log): Promise<MongoProgram | undefined> {
  // Loaded on demand: most starts never need the downloader.
  const { DryMongoBinary, MongoBinary } = await import('mongodb-memory-server-core');
  const { MongoBinaryDownloadUrl } =
    await import('mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js');
  try {
    const downloadDir = join(cacheRoot(), 'mongod');
    await mkdir(downloadDir, { recursive: true });
    const options = await DryMongoBinary.generateOptions({ downloadDir });
    const kept = await DryMongoBinary.locateBinary(options);
    if (kept !== undefined) return mongodProgram(kept);
    const { version } = options;
    const url = await new MongoBinaryDownloadUrl({ ...options, platform: process.platform }).getDownloadUrl();
    await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_MS) });
    const path = await withProgress(log, `downloading mongod ${version}`, () =>
      beforeDeadline(MongoBinary.getPath({ version, downloadDir }), DOWNLOAD_MS, 'the download of mongod'),
    );
    return mongodProgram(path);
  } catch (error) {
    log(`mongod cannot be downloaded here (${errorText(error)})`);
    return undefined;
  }
}
