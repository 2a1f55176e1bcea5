import { AppError } from '@webhooks/http-api';
import type { CatchUpResult } from './projection/catch-up.js';

export interface ReadingAfterCatchUp<T> {
  /** Reads by statements that begin when it is called; undefined is a miss. */
  readonly read: () => Promise<T | undefined>;
  /** Whether what was found is what the caller waits for; if not, its news may be on the topic still. Default: it is. */
  readonly isWhole?: (found: T) => boolean;
  /** Waits until everything is projected that is on the topic now; `ms`: at most so long. */
  readonly catchUp: (ms?: number) => Promise<CatchUpResult>;
  /** Time that the first reading waits for that, at most, so that it mostly is the only one; default: it begins at once. */
  readonly soonMs?: number;
}

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest records are not read yet; try again',
  full: 'too many queries wait for the newest records; try again',
};

/**
 * Reads once everything is projected that is on the topic now, or `soonMs` later; on a miss reads again once it is. What a
 * record told of before the request is never missed. A part counts as a miss, and is the answer when nothing comes
 * to it in time. Resolves with undefined when nothing is there; throws 503 with `Retry-After` when that is not known.
 */
export async function readAfterCatchUp<T>(reading: ReadingAfterCatchUp<T>): Promise<T | undefined> {
  const { read, isWhole = () => true, catchUp, soonMs } = reading;
  const soon = soonMs === undefined ? 'late' : await catchUp(soonMs);
  const found = await read();
  if (soon === 'passed' || (found !== undefined && isWhole(found))) return found;
  const result = await catchUp();
  const foundNow = await read();
  if (foundNow !== undefined || result === 'passed') return foundNow;
  throw new AppError('unavailable', NOT_YET[result], { headers: { 'retry-after': '1' } });
}
