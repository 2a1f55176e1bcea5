import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { isFatal } from './kafkajs-adapter/faults.js';
import { asError } from './protocol/as-error.js';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

/** Milliseconds until `deadlineAt` of `performance.now()`, at least 0. */
export function remainingMs(deadlineAt: number): number {
  return Math.max(0, deadlineAt - performance.now());
}

/** The promise's outcome, or `undefined` when it has none after `timeoutMs`; what it does later is ignored. */
export async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Tries until it works; throws at the deadline (the last error as cause), or at once when trying again cannot help. `onFault`
 * gets the error of each try.
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
    await delay(Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS, remainingMs(deadlineAt)));
  }
  throw new Error(`${what}: not done within ${deadlineMs} ms: ${asError(last).message}`, { cause: last });
}
