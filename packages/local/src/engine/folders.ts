import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, dirname } from 'node:path';
import { runCommand, errorText } from './command.js';
import { RESPONSE_DEADLINE_MS, untilClear } from './wait.js';
import type { Log } from './wait.js';

const ABANDONED_AFTER_MS = 3_600_000;

/** Returns the cache folder of downloads, which is outside of every checkout and shared by all checkouts of a user. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'webhooks-engines');
}

/**
 * Returns the path of the folder `name` in the cache. `fill` fills a missing folder, which then appears atomically. If two processes fill
 * it at once, the first one's folder is used.
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
    // Another process was faster. Its folder has the same content.
    if (!existsSync(folder)) throw error;
  }
}

/** Removes unfinished folders that are more than an hour old, left by killed processes. */
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

/** Writes a file atomically, and creates its folder. `mode` 0o600: only its owner may read it. */
export async function writeWhole(path: string, text: string, mode: 0o600 | 0o640 | 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${randomUUID()}.tmp`;
  await writeFile(unfinished, text, { mode });
  await rename(unfinished, path);
}

const PID_FILE = 'engine.pid';

/** Writes the id of the engine's process into its data folder. */
export const rememberEngine = (folder: string, pid: number): Promise<void> =>
  writeFile(join(folder, PID_FILE), `${pid}\n`);

/**
 * Waits until no engine uses `folder`: one may still run after its parent was killed. Throws when it runs at the deadline, default 15 s.
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
    const check = async () => ((await usesFolder(pid, folder)) ? inUse : undefined);
    if ((await untilClear(check, { deadlineMs })) !== undefined) throw new Error(inUse);
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

/** Whether the process runs and its command line names the folder. False for a zombie, and for another program with a recycled id. */
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
