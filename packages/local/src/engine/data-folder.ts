import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command.js';
import { ANSWER_DEADLINE_MS } from './deadline.js';
import { errorCode } from './error-text.js';
import type { Log } from './log.js';
import { untilClear } from './poll.js';

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
  deadlineMs = ANSWER_DEADLINE_MS,
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
    return errorCode(error) === 'EPERM';
  }
}

/** Whether the process lives and names the folder in its command line; a recycled id or a zombie does not. */
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
