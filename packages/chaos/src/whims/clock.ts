import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the folder of clocks to the services of a run. */
export const CLOCKS_VARIABLE = 'CHAOS_CLOCKS';
/** How far a clock jumps, milliseconds. */
export const JUMP_MS = 600_000;

const fileOf = (folder: string, pid: number): string => join(folder, `clock-${pid}`);

/** From now on the clock of this process is so many milliseconds ahead of the true one; below 0 it is behind. */
export const setClock = (folder: string, pid: number, aheadMs: number): void =>
  writeFileSync(fileOf(folder, pid), String(aheadMs));

/** Its clock tells the true time again. */
export const mendClock = (folder: string, pid: number): void => rmSync(fileOf(folder, pid), { force: true });

/** How far the clock of this process is to be ahead, milliseconds; 0 for the true time. */
export function readClock(folder: string, pid = process.pid): number {
  const file = fileOf(folder, pid);
  // Nearly always it is not there, and a look costs less than a failure.
  if (!existsSync(file)) return 0;
  const aheadMs = Number(readFileSync(file, 'utf8'));
  return Number.isFinite(aheadMs) ? aheadMs : 0;
}

/** An answer that was made by a wrong clock came before, or comes within this time after it was set right. */
const ECHO_MS = 5_000;

/** Whether some clock is wrong, or was a moment ago: the folder tells by its time when the last one was set. */
export const mayClockBeWrong = (folder: string, now = Date.now()): boolean =>
  readdirSync(folder).length > 0 || now - statSync(folder).mtimeMs < ECHO_MS;

/**
 * By how much a clock was wrong that told `told` of what happened at about `truly` (Unix milliseconds): a whole number of
 * jumps. What lies less than half a jump from the truth was told by a right one.
 */
export const wrongBy = (told: number, truly: number): number =>
  // Rounding gives a zero of either sign.
  JUMP_MS * Math.round((told - truly) / JUMP_MS) + 0;
