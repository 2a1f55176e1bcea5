import { AppError } from '@webhooks/http-api';
import type { CatchUpResult } from '../projection/catch-up.js';

/** Looks something up, by statements that begin when it is called. */
export type Look<T> = () => Promise<T | undefined>;

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest events are not read yet; try again',
  full: 'too many queries wait for the newest events; try again',
};

/**
 * Looks, and on a miss looks again after everything was projected that was on the topic when it was asked (contract §7):
 * what an event told of before the request is never answered with 404. Throws 404 when it is not there, and 503 with
 * `Retry-After` when that is not known.
 */
export async function lookSurely<T>(
  look: Look<T>,
  waitForEvents: () => Promise<CatchUpResult>,
  notFound: string,
): Promise<T> {
  const found = await look();
  if (found !== undefined) return found;
  const result = await waitForEvents();
  const foundNow = await look();
  if (foundNow !== undefined) return foundNow;
  if (result === 'passed') throw new AppError('not-found', notFound);
  throw new AppError('unavailable', NOT_YET[result], { headers: { 'retry-after': '1' } });
}
