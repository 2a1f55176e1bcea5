import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, parse } from 'node:path';
import { cachedFolder } from '../engine/folders.js';
import { lastLines, runCommand } from '../engine/command.js';
import { withProgress, type Log } from '../engine/wait.js';
import type { MongoProgram } from './mongo-program.js';

/**
 * The allowed versions, newest first: for each a list of files with their hashes, as pip reads it. There may be several, because its author
 * removes old pre-releases from PyPI.
 */
function readLocks() {
  const folder = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'secantus');
  const names = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  const newestFirst = names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const paths = newestFirst.map((name) => join(folder, name));
  const hash = createHash('sha256').update(paths.map((path) => readFileSync(path, 'utf8')).join('\n'));
  return { paths, fingerprint: hash.digest('hex').slice(0, 16) };
}

const INSTALL_TIMEOUT_MS = 600_000;
/** Overrides the user's pip settings that conflict with `--target`. All others (index, proxy, wheels) still apply. */
const NEUTRAL_PIP = { PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0' };
const HOW_TO_INSTALL =
  'Debian and Ubuntu: sudo apt-get install python3 python3-pip · Fedora: sudo dnf install python3 python3-pip · macOS: brew install python';

export interface Python {
  /** Path of the interpreter itself, not of a version manager's launcher. */
  readonly command: string;
  /** As in "3.11". */
  readonly version: string;
}

/** Finds `python3` on the PATH. Throws with the command that installs it when there is none. */
export async function findPython(): Promise<Python> {
  const question = 'import sys; print("python", "%d.%d" % sys.version_info[:2], sys.executable)';
  const { output } = await runCommand('python3', ['-c', question], { timeoutMs: 20_000 });
  const [, version, command] = /^python (3\.\d+) (.+)$/m.exec(output) ?? [];
  if (version === undefined || command === undefined)
    throw new Error(`Python 3 was not found. ${HOW_TO_INSTALL}`);
  return { version, command };
}

/**
 * Installs the newest allowed version that PyPI has, with `pip --target`, so that neither the system's Python nor a virtual environment
 * changes. pip refuses a file whose hash is not in the list.
 */
async function install(python: string, locks: readonly string[], folder: string): Promise<void> {
  const pip = await runCommand(python, ['-m', 'pip', '--version'], { timeoutMs: 30_000 });
  if (pip.code !== 0) throw new Error(`Python has no pip. ${HOW_TO_INSTALL}`);
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--only-binary', ':all:'];
  options.push('--require-hashes', '--no-compile', '--target', folder);
  let refusal = '';
  for (const lock of locks) {
    const { code, output } = await runCommand(python, ['-m', 'pip', 'install', ...options, '-r', lock], {
      ...{ timeoutMs: INSTALL_TIMEOUT_MS, env: NEUTRAL_PIP },
    });
    if (code === 0) return;
    refusal = lastLines(output);
    if (!/No matching distribution found for secantusdb/i.test(refusal)) break;
  }
  throw new Error(
    `pip installed no allowed version of SecantusDB (${locks.map((lock) => parse(lock).name).join(', ')}): ${refusal}\n` +
      'A newer version is allowed by: sh packages/local/secantus/lock VERSION',
  );
}

/**
 * Installs SecantusDB, which is MongoDB's protocol over WiredTiger, from PyPI, for machines that reach package registries only. The cache
 * has one folder for each Python version and platform. SecantusDB is a separate GPL-2.0 program in beta, for small data: not linked, not
 * shipped, not for production.
 */
export async function findSecantus(log: Log): Promise<MongoProgram> {
  const { command, version } = await findPython();
  const { paths, fingerprint } = readLocks();
  const name = `secantusdb-${fingerprint}-python${version}-${process.platform}-${process.arch}`;
  const title = 'installing SecantusDB (a MongoDB-compatible database, a separate GPL-2.0 program) with pip';
  const folder = await cachedFolder(name, (target) =>
    withProgress(log, title, () => install(command, paths, target)),
  );
  return {
    name: 'secantus',
    title: 'SecantusDB',
    command,
    env: { PYTHONPATH: folder },
    // Without a configuration file it would read those in the user's and the system's folders. A TTL sweep reads each whole collection that
    // has a TTL index, and blocks all requests meanwhile: 2 to 4 s for 100,000 documents.
    configFile: { name: 'secantusd.toml', text: '[storage]\nttl_sweep_seconds = 3600\n' },
    // With --sync-on-commit nothing acknowledged was lost in kill -9 tests; without it 30 to 40 of 5,000 writes.
    args: ({ port, dataFolder, configPath }) => [
      ...['-m', 'secantus', '--config', configPath, '--host', '127.0.0.1', '--port', String(port)],
      ...['--storage-path', dataFolder, '--cache-size', '256M', '--log-level', 'WARNING', '--sync-on-commit'],
    ],
  };
}
