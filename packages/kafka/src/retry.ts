import { setTimeout as delay } from 'node:timers/promises';
import { isFatal, asError } from './faults.js';
import { POLL_MS, RETRY_FIRST_MS, RETRY_LONGEST_MS } from './limits.js';

/**
 * The wait after `failures` consecutive failures (from 1), milliseconds: 100, doubled with each further failure up
 * to `longestMs` (default 1,000). Half of the wait is random, so that clients do not retry at the same time ("equal
 * jitter", AWS Architecture Blog, 2015).
 */
export function backoffMs(failures: number, longestMs = RETRY_LONGEST_MS): number {
  const plainMs = Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), longestMs);
  return (plainMs * (1 + Math.random())) / 2;
}

/** Milliseconds until `deadlineAt` of `performance.now()`, at least 0. */
export function remainingMs(deadlineAt: number): number {
  return Math.max(0, deadlineAt - performance.now());
}

/** Resolves when the condition `isSo` is true, or after `timeoutMs`. */
export async function until(isSo: () => boolean, timeoutMs: number): Promise<void> {
  const deadlineAt = performance.now() + timeoutMs;
  while (!isSo() && remainingMs(deadlineAt) > 0) await delay(POLL_MS);
}

/** Settles as the promise does, or resolves with undefined after `timeoutMs`. A later outcome is ignored. */
export function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, timeoutMs, undefined);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Calls `attempt` until it succeeds. Throws at the deadline, with the last error as cause, or at once when a retry
 * cannot help. `onFault` is called with the error of each failed try.
 */
export async function untilDeadline<T>(
  what: string,
  deadlineMs: number,
  attempt: () => Promise<T>,
  onFault: (error: unknown) => void = () => undefined,
): Promise<T> {
  const deadlineAt = performance.now() + deadlineMs;
  let last: unknown = new Error('no response');
  for (let failures = 1; remainingMs(deadlineAt) > 0; failures += 1) {
    try {
      const outcome = await within(
        attempt().then((value) => ({ value })),
        remainingMs(deadlineAt),
      );
      if (outcome !== undefined) return outcome.value;
    } catch (error) {
      if (isFatal(error)) throw asError(error);
      last = error;
      onFault(error);
    }
    await delay(Math.min(backoffMs(failures), remainingMs(deadlineAt)));
  }
  throw new Error(`${what}: not done within ${deadlineMs} ms: ${asError(last).message}`, { cause: last });
}
