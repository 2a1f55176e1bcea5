import { setTimeout as sleep } from 'node:timers/promises';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { createTally, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';
import { isLastingFault } from './lasting-fault.js';

/** Resolves when Kafka acknowledged the record; rejects when the worker stops first, and with a lasting fault (see there). */
export type PublishWithRetry = (record: OutgoingRecord) => Promise<void>;

const DEADLINE_MS = 30_000;
/** Between two tries: the sink has tried until the deadline itself. */
const PAUSE_MS = 1_000;

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
export function createPublishWithRetry(sink: Pick<Sink, 'send'>, log: Logger, signal: AbortSignal) {
  const tell = createTeller(log);
  let pausing: Promise<void> | undefined;
  /** One for all who wait: thousands of listeners to one signal would cost seconds. */
  const pause = (): Promise<void> =>
    (pausing ??= sleep(PAUSE_MS, undefined, { signal }).finally(() => (pausing = undefined)));
  return async (record: OutgoingRecord): Promise<void> => {
    for (;;) {
      try {
        await sink.send(record, { deadlineMs: DEADLINE_MS });
        return;
      } catch (error) {
        if (signal.aborted || isLastingFault(error)) throw error;
        tell(record.topic, error);
        await pause();
      }
    }
  };
}
