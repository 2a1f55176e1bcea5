import { createTally, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

/**
 * Says in the log that events were not acknowledged, with what became of the latest: while Kafka is away there are
 * thousands a second, and a line for each would take more than the events do. See `createTally`, also for `now`.
 */
export function createTellFailed(log: Logger, now: () => number): (eventId: string, error: unknown) => void {
  const tally = createTally(now);
  return (eventId, error) => {
    const events = tally();
    if (events === undefined) return;
    log.warn('events were not acknowledged by Kafka', {
      ...{ events, latestEventId: eventId },
      ...errorFields(error),
    });
  };
}
