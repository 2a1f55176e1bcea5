import { setTimeout as sleep } from 'node:timers/promises';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { createTally, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';
import { isLastingFault } from './lasting-fault.js';

/** Resolves when Kafka acknowledged the record; rejects when the worker stops first, and with a lasting fault (see there). */
export type PublishWithRetry = (record: OutgoingRecord) => Promise<void>;

const DEADLINE_MS = 30_000;
const MAX_PAUSE_MS = 5_000;

/** Thousands of records may wait while a broker is away. */
function createTeller(log: Logger): (topic: string, error: unknown) => void {
  const tally = createTally(() => performance.now());
  return (topic, error) => {
    const records = tally();
    if (records === undefined) return;
    log.warn('records were not acknowledged; publishing them again', {
      topic,
      records,
      ...errorFields(error),
    });
  };
}

/**
 * Publishes until it succeeds, unless it never will. A failed attempt was made and must not be made again because a broker is
 * away: its settlement waits here, bounded by the window of the source that read the record.
 */
export function createPublishWithRetry(sink: Sink, log: Logger, signal: AbortSignal): PublishWithRetry {
  const tell = createTeller(log);
  return async (record) => {
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        await sink.send(record, { deadlineMs: DEADLINE_MS });
        return;
      } catch (error) {
        if (signal.aborted || isLastingFault(error)) throw error;
        tell(record.topic, error);
        await sleep(pauseMs, undefined, { signal });
      }
    }
  };
}
