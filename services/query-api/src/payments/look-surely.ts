import { AppError } from '@webhooks/http-api';
import type { CatchUpResult } from '../projection/catch-up.js';

export interface Looking<T> {
  /** Looks something up, by statements that begin when it is called. */
  readonly look: () => Promise<T | undefined>;
  /** Whether what was found is what somebody waits for; if not, its news may be on the topic still. */
  readonly isWhole: (found: T) => boolean;
  /** Waits until everything is projected that is on the topic now. */
  readonly waitForEvents: () => Promise<CatchUpResult>;
  /** What a 404 says. */
  readonly notFound: string;
}

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest events are not read yet; try again',
  full: 'too many queries wait for the newest events; try again',
};

/**
 * Looks, and on a miss looks again after everything was projected that was on the topic when it was asked:
 * what an event told of before the request is never answered with 404. A part counts as a miss, and is the answer when
 * nothing comes to it in time. Throws 404 when nothing is there, and 503 with `Retry-After` when that is not known.
 */
export async function lookSurely<T>({ look, isWhole, waitForEvents, notFound }: Looking<T>): Promise<T> {
  const found = await look();
  if (found !== undefined && isWhole(found)) return found;
  const result = await waitForEvents();
  const foundNow = await look();
  if (foundNow !== undefined) return foundNow;
  if (result === 'passed') throw new AppError('not-found', notFound);
  throw new AppError('unavailable', NOT_YET[result], { headers: { 'retry-after': '1' } });
}
