import { setTimeout as delay } from 'node:timers/promises';

/** Longest wait for an engine, its image or its data folder to be ready; recovery after kill -9 of a large log took ten seconds. */
export const READY_DEADLINE_MS = 60_000;
/** Longest wait for an engine to end, or to answer at an address that somebody named; SecantusDB takes 2 to 5 s to end. */
export const ANSWER_DEADLINE_MS = 15_000;

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
