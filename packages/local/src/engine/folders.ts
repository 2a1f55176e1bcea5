import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, dirname } from 'node:path';
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

/** The words of `ps` are the same for every caller. */
const PLAIN = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };

/** When a process started, in the words of the operating system; undefined when it has ended. With its id it names one process for ever. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        timeout: 5_000,
        env: PLAIN,
      }).toString();
    // proc_pid_stat(5): the state is field 3, behind the name in parentheses; the start is field 22.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined; // There is no such process.
  }
}

/**
 * Writes a file that names a process by its id, for `kill $(cat FILE)`, and beside it when the process started, because ids are used again.
 * `wx`: throws when the file exists.
 */
export function writeOwner(file: string, pid: number, flag: 'w' | 'wx'): void {
  writeFileSync(file, `${pid}\n`, { flag });
  writeFileSync(`${file}.start`, startOf(pid) ?? '');
}

/** Returns the id of the process that a file names; undefined when it has ended or there is no such file. */
export function ownerOf(file: string): number | undefined {
  if (!existsSync(file) || !existsSync(`${file}.start`)) return undefined;
  const pid = Number(readFileSync(file, 'utf8'));
  return startOf(pid) === readFileSync(`${file}.start`, 'utf8') ? pid : undefined;
}

const pidFile = (folder: string): string => join(folder, 'engine.pid');

/** Returns the id of the engine's process that uses a data folder; undefined when none does. */
export const engineOf = (folder: string): number | undefined => ownerOf(pidFile(folder));

/** Writes the engine's process into its data folder. */
export const rememberEngine = (folder: string, pid: number): void => writeOwner(pidFile(folder), pid, 'w');

/**
 * Waits until no engine uses `folder`: one may still run after its parent was killed. Throws when it runs at the deadline, default 15 s.
 */
export async function awaitFreeDataFolder(
  folder: string,
  log: Log,
  deadlineMs = RESPONSE_DEADLINE_MS,
): Promise<void> {
  const pid = engineOf(folder);
  if (pid !== undefined) {
    log(`process ${pid} still uses ${folder}; waiting for its end`);
    const inUse = `${folder} is in use by process ${pid}. Stop it, or choose another data folder.`;
    const check = () => Promise.resolve(engineOf(folder) === undefined ? undefined : inUse);
    if ((await untilClear(check, { deadlineMs })) !== undefined) throw new Error(inUse);
  }
  await rm(pidFile(folder), { force: true });
}
