import { createTally, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

/**
 * Says in the log that queries did not wait to their end, with what became of the latest: a thousand may wait at once.
 * See `createTally`, also for `now`.
 */
export function createTellFaults(log: Logger, now: () => number): (error: unknown) => void {
  const tally = createTally(now);
  return (error) => {
    const queries = tally();
    if (queries !== undefined) {
      log.warn('queries did not wait to their end', { queries, ...errorFields(error) });
    }
  };
}
