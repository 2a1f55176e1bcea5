import { setTimeout as delay } from 'node:timers/promises';

/** Resolves to `work`'s result; throws after `deadlineMs` (the work itself is not interrupted). */
export async function beforeDeadline<T>(work: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  const abort = new AbortController();
  const tooLate = delay(deadlineMs, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`${what} was not done within ${deadlineMs / 1_000} s`);
  });
  tooLate.catch(() => undefined);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    abort.abort();
  }
}
