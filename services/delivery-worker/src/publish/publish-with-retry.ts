import { setTimeout as sleep } from 'node:timers/promises';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';
import { isLastingFault } from './lasting-fault.js';

/** Resolves when Kafka acknowledged the record; rejects when the worker stops first, and with a lasting fault (see there). */
export type PublishWithRetry = (record: OutgoingRecord) => Promise<void>;

/** Between two tries: the sink has tried until its deadline itself. */
const PAUSE_MS = 1_000;

/**
 * Publishes until it succeeds, unless it never will. A failed attempt was made and must not be made again because a broker is
 * away: its settlement waits here, bounded by the window of the source that read the record.
 */
export function createPublishWithRetry(sink: Pick<Sink, 'send'>, log: Logger, signal: AbortSignal) {
  // Thousands of records may wait while a broker is away.
  const throttle = createLogThrottle();
  let pausing: Promise<void> | undefined;
  /** One for all who wait: thousands of listeners to one signal would cost seconds. */
  const pause = (): Promise<void> =>
    (pausing ??= sleep(PAUSE_MS, undefined, { signal }).finally(() => (pausing = undefined)));
  return async (record: OutgoingRecord): Promise<void> => {
    for (;;) {
      try {
        await sink.send(record);
        return;
      } catch (error) {
        if (signal.aborted || isLastingFault(error)) throw error;
        throttle((records) => {
          const fields = { topic: record.topic, records, ...errorFields(error) };
          log.warn('records were not acknowledged; publishing them again', fields);
        });
        await pause();
      }
    }
  };
}
