import { AppError } from '@webhooks/http-api';
import type { CatchUpResult } from './projection/catch-up.js';

export interface ReadingAfterCatchUp<T> {
  /** Reads by statements that begin when it is called; undefined is a miss. */
  readonly read: () => Promise<T | undefined>;
  /** Whether what was found is what the caller waits for; if not, its news may be on the topic still. Default: it is. */
  readonly isWhole?: (found: T) => boolean;
  /** Waits until everything is projected that is on the topic now. */
  readonly catchUp: () => Promise<CatchUpResult>;
}

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest records are not read yet; try again',
  full: 'too many queries wait for the newest records; try again',
};

/**
 * Reads, and on a miss reads again after everything was projected that was on the topic when it was asked:
 * what a record told of before the request is never missed. A part counts as a miss, and is the answer when nothing comes
 * to it in time. Resolves with undefined when nothing is there; throws 503 with `Retry-After` when that is not known.
 */
export async function readAfterCatchUp<T>({
  read,
  isWhole = () => true,
  catchUp,
}: ReadingAfterCatchUp<T>): Promise<T | undefined> {
  const found = await read();
  if (found !== undefined && isWhole(found)) return found;
  const result = await catchUp();
  const foundNow = await read();
  if (foundNow !== undefined || result === 'passed') return foundNow;
  throw new AppError('unavailable', NOT_YET[result], { headers: { 'retry-after': '1' } });
}
