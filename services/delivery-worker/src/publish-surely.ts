import { setTimeout as delay } from 'node:timers/promises';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

/** Resolves when Kafka acknowledged the record; rejects only when the worker stops first. */
export type PublishSurely = (record: OutgoingRecord) => Promise<void>;

const DEADLINE_MS = 30_000;
const MAX_PAUSE_MS = 5_000;

/**
 * Publishes until it succeeds. A failed attempt was made and must not be made again because a broker is away: its
 * settlement waits here, bounded by the window of the source that read the record.
 */
export function createPublishSurely(sink: Sink, log: Logger, signal: AbortSignal): PublishSurely {
  // One promise for all who pause: a listener for each would be thousands on one signal while a broker is away.
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
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
        await Promise.race([delay(pauseMs, undefined, { ref: false }), stopped]);
      }
    }
  };
}
