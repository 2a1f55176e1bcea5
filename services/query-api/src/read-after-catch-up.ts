import { AppError } from '@webhooks/http-api';
import type { CatchUpResult } from './projection/catch-up.js';

export interface ReadingAfterCatchUp<T> {
  /** Reads by statements that begin when it is called; undefined is a miss. */
  readonly read: () => Promise<T | undefined>;
  /** Waits until everything is projected that is on the topic now. */
  readonly catchUp: () => Promise<CatchUpResult>;
}

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest records are not read yet; try again',
  full: 'too many queries wait for the newest records; try again',
};

/**
 * Reads after everything was projected that was on the topic when it was asked: the answer tells all of it. What is not
 * projected in time may be missing from it. Resolves with undefined when nothing is there; throws 503 with `Retry-After` when that is not known.
 */
export async function readAfterCatchUp<T>({ read, catchUp }: ReadingAfterCatchUp<T>): Promise<T | undefined> {
  const result = await catchUp();
  const found = await read();
  if (found !== undefined || result === 'passed') return found;
  throw new AppError('unavailable', NOT_YET[result]);
}

/** Reads at once, and waits only on a miss: for what is known once and for all, or is looked at again anyway. */
export async function readOrCatchUp<T>(reading: ReadingAfterCatchUp<T>): Promise<T | undefined> {
  return (await reading.read()) ?? readAfterCatchUp(reading);
}
