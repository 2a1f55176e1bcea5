import { errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

/** Between two lines. */
const AGAIN_MS = 10_000;

/**
 * Says in the log that events were not acknowledged: the first one at once, and then one line in 10 s with how many they
 * were since the last line and what became of the latest. While Kafka is away there are thousands a second, and a line
 * for each would take more than the events do. `now` in milliseconds of a clock that never goes back.
 */
export function createTellFailed(log: Logger, now: () => number): (eventId: string, error: unknown) => void {
  let toldAt = -Infinity;
  let events = 0;
  return (eventId, error) => {
    events += 1;
    const at = now();
    if (at - toldAt < AGAIN_MS) return;
    log.warn('events were not acknowledged by Kafka', {
      ...{ events, latestEventId: eventId },
      ...errorFields(error),
    });
    toldAt = at;
    events = 0;
  };
}
