import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

/** Resolves when Kafka acknowledged the record; rejects only when the worker stops first. */
export type PublishSurely = (record: OutgoingRecord) => Promise<void>;

const DEADLINE_MS = 30_000;
const MAX_PAUSE_MS = 5_000;

/** Waits, at most until the worker stops. Resolves early then: the caller looks at the signal itself. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/**
 * Publishes until it succeeds. A failed attempt was made and must not be made again because a broker is away: its
 * settlement waits here, bounded by the window of the source that read the record.
 */
export function createPublishSurely(sink: Sink, log: Logger, signal: AbortSignal): PublishSurely {
  return async (record) => {
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        await sink.send(record, { deadlineMs: DEADLINE_MS });
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn('a record was not acknowledged; publishing it again', {
          topic: record.topic,
          ...errorFields(error),
        });
        await pause(pauseMs, signal);
      }
    }
  };
}
