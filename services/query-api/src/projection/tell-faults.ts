import { errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

/** Between two lines. */
const AGAIN_MS = 10_000;

/**
 * Says in the log that queries did not wait to their end: the first one at once, and then one line in 10 s with how many
 * they were since the last line and what became of the latest, for a thousand may wait at once. `now` in milliseconds of
 * a clock that never goes back.
 */
export function createTellFaults(log: Logger, now: () => number): (error: unknown) => void {
  let toldAt = -Infinity;
  let queries = 0;
  return (error) => {
    queries += 1;
    const at = now();
    if (at - toldAt < AGAIN_MS) return;
    log.warn('queries did not wait to their end', { queries, ...errorFields(error) });
    toldAt = at;
    queries = 0;
  };
}
