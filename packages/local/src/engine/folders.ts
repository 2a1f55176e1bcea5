import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, dirname } from 'node:path';
import { runCommand, errorText } from './command.js';
import { RESPONSE_DEADLINE_MS, untilClear } from './wait.js';
import type { Log } from './wait.js';

const ABANDONED_AFTER_MS = 3_600_000;

/** The folder outside of every checkout in which downloads are kept, shared by all checkouts of a user. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'webhooks-engines');
}

/**
 * The folder `name` of the cache. `fill` writes it when it is missing, and it appears whole or not at all. When two processes fill
 * it at once, the folder of the first stays.
 */
export async function cachedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheRoot(), name);
  if (existsSync(folder)) return folder;
  await removeAbandoned();
  await fillAtomically(folder, fill);
  return folder;
}

async function fillAtomically(folder: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const unfinished = await mkdtemp(`${folder}.tmp-`);
  try {
    await fill(unfinished);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process was faster. Its folder is the same as ours.
    if (!existsSync(folder)) throw error;
  }
}

/** Removes what a killed process left half-written more than an hour ago. */
async function removeAbandoned(): Promise<void> {
  await mkdir(cacheRoot(), { recursive: true });
  for (const name of await readdir(cacheRoot())) {
    if (!name.includes('.tmp-')) continue;
    const path = join(cacheRoot(), name);
    const seen = await stat(path).catch(() => undefined);
    if (seen && Date.now() - seen.mtimeMs > ABANDONED_AFTER_MS)
      await rm(path, { recursive: true, force: true });
  }
}

/** Writes a file that appears whole or not at all. `mode`: 0o600 for what its owner alone may read. */
export async function writeWhole(path: string, text: string, mode: 0o600 | 0o640 | 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${randomUUID()}.tmp`;
  await writeFile(unfinished, text, { mode });
  await rename(unfinished, path);
}

const PID_FILE = 'engine.pid';

/** Notes in the data folder which process uses it. */
export const rememberEngine = (folder: string, pid: number): Promise<void> =>
  writeFile(join(folder, PID_FILE), `${pid}\n`);

/**
 * Makes sure that no engine uses `folder`: waits for one whose parent was killed, ignores one that has ended, and throws
 * when one keeps running.
 */
export async function awaitFreeDataFolder(
  folder: string,
  log: Log,
  deadlineMs = RESPONSE_DEADLINE_MS,
): Promise<void> {
  const path = join(folder, PID_FILE);
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  if (pid > 0 && (await usesFolder(pid, folder))) {
    log(`process ${pid} still uses ${folder}; waiting for its end`);
    const inUse = `${folder} is in use by process ${pid}. Stop it, or choose another data folder.`;
    const look = async () => ((await usesFolder(pid, folder)) ? inUse : undefined);
    if ((await untilClear(look, { deadlineMs })) !== undefined) throw new Error(inUse);
  }
  await rm(path, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorText(error).includes('EPERM');
  }
}

/** Whether a process runs and its command line has the folder. A recycled id and a zombie have not. */
export async function usesFolder(pid: number, folder: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  return (await commandLine(pid)).includes(folder);
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  }
  return (await runCommand('ps', ['-o', 'args=', '-p', String(pid)], { timeoutMs: 5_000 })).output;
}
