import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../error-text.js';

const HEARTBEAT_MS = 2_000;
const STALE_AFTER_MS = 15_000;
const LOOK_AGAIN_MS = 100;

export interface LockOptions {
  /** Longest wait for another holder before an error. */
  readonly waitMs: number;
  /** Called once when another process holds the lock. */
  readonly onWait?: () => void;
}

/**
 * Runs `work` while holding the lock file `path`. A lock whose holder is dead (same host, no such process) or has
 * not touched it for 15 s is taken over. It spares double work; it is not what keeps a folder whole (that is `rename`).
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  await acquire(path, options);
  const heartbeat = setInterval(() => {
    utimes(path, new Date(), new Date()).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function acquire(path: string, { waitMs, onWait }: LockOptions): Promise<void> {
  const endsAt = performance.now() + waitMs;
  let waited = false;
  while (!(await create(path))) {
    if (await isStale(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (!waited) onWait?.();
    waited = true;
    if (performance.now() > endsAt) {
      throw new Error(
        `another process has held ${path} for ${waitMs / 1_000} s; remove it if none is running`,
      );
    }
    await delay(LOOK_AGAIN_MS);
  }
}

async function create(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(`${process.pid} ${hostname()}\n`);
    await file.close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (Date.now() - mtimeMs > STALE_AFTER_MS) return true;
    const [pid, host] = text.trim().split(' ');
    return host === hostname() && !isAlive(Number(pid));
  } catch {
    return false; // released between the two looks: try to take it
  }
}

/** Whether a process with this id exists on this machine. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
