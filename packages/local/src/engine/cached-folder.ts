import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const ABANDONED_AFTER_MS = 3_600_000;

/** The folder outside of every checkout in which downloads are kept, shared by all checkouts of a user. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'webhooks-engines');
}

/**
 * The folder `name` of the cache; `fill` writes it when it is missing. It appears whole or not at all (written beside and
 * renamed). Two processes that need it at the same time both do the work; the folder of the first stays.
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
