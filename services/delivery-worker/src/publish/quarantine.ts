import { TOPICS } from '@webhooks/contracts';
import type { Violation } from '@webhooks/contracts';
import type { KafkaRecord, OnPoison } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import { boundedCopy, truncationHeaders } from './bounded-copy.js';
import { isPermanentFault } from './publisher.js';
import type { PublishWithRetry } from './publisher.js';

/**
 * Records that one worker may quarantine in a minute. Poisoned records are rare; many of them mean a bug, which
 * could quarantine a whole topic.
 */
const MAX_RECORDS = 10;
const WINDOW_MS = 60_000;

/** The quarantine budget that all sources of a worker share. `now`: monotonic milliseconds. */
export function createQuarantineBudget(log: Logger, now = () => performance.now()) {
  const taken: number[] = [];
  let deniedAt = Number.NEGATIVE_INFINITY;
  const isExhausted = (): boolean => now() - deniedAt < WINDOW_MS;
  const deny = (): false => {
    if (!isExhausted())
      log.error('the quarantine budget is exhausted: this is a bug of the worker, not of the records', {
        records: MAX_RECORDS,
        withinMs: WINDOW_MS,
      });
    deniedAt = now();
    return false;
  };
  return {
    /** Takes one record from the budget. Returns false when the budget is exhausted. */
    take: (): boolean => {
      const [oldest = Number.NEGATIVE_INFINITY] = taken;
      if (taken.length >= MAX_RECORDS && now() - oldest < WINDOW_MS) return deny();
      if (taken.push(now()) > MAX_RECORDS) taken.shift();
      return true;
    },
    /** Returns one record to the budget, because it could not be quarantined and is tried again. */
    giveBack: (): void => void taken.pop(),
    /** Why the worker is not ready: the budget was exhausted within the last minute. Otherwise undefined. */
    fault: () =>
      isExhausted() ? `more than ${MAX_RECORDS} records a minute fail by a bug of the worker` : undefined,
  };
}

export type QuarantineBudget = ReturnType<typeof createQuarantineBudget>;

/**
 * Failed calls until a record is quarantined, about a second. There are few, because each may post the record's
 * neighbours again.
 */
const TRIES = 5;

/** Value of `reject-reason` and `dead-reason` for a quarantined record. */
export const NOT_HANDLED = 'not-handled';

interface QuarantineOptions {
  /** Publishes the record to a topic for operators. Rejects when the worker shuts down first. */
  readonly quarantine: (record: KafkaRecord, fault: string) => Promise<unknown>;
  readonly log: Logger;
  readonly budget: Pick<QuarantineBudget, 'take' | 'giveBack'>;
}

/**
 * Quarantines a record that the worker's code fails at repeatedly, or that Kafka rejects, so that its partition
 * continues. For other faults, and beyond the budget, the record is retried for ever. That blocks its partition,
 * which is better than to quarantine a whole topic.
 */
export function createQuarantine({ quarantine, log, budget }: QuarantineOptions): OnPoison {
  const quarantineAndLog = async (record: KafkaRecord, error: Error, times: number): Promise<void> => {
    try {
      await quarantine(record, error.name);
    } catch (fault) {
      // Otherwise one record that cannot be quarantined would use up the budget.
      budget.giveBack();
      throw fault;
    }
    const { topic, partition, offset } = record;
    const place = { topic, partition, offset, times };
    const fields = { ...place, error: error.stack ?? error.message };
    log.error('a record was quarantined: handling it fails each time', fields);
  };
  return ({ record, error, times }) => {
    if (times < TRIES || !isPermanentFault(error) || !budget.take()) return undefined;
    return quarantineAndLog(record, error, times);
  };
}

/** Below the topic's limit of 16 MiB, with room for key and headers. */
const MAX_ORIGINAL_BYTES = 15 * 1_048_576;
const MAX_DETAIL_CHARACTERS = 1_000;

/**
 * Publishes a record that is not a valid event to `payments.events.rejected`: reason and place in headers, the
 * original bytes as value.
 */
export function rejectRecord(
  record: KafkaRecord,
  why: { readonly reason: string; readonly violations: readonly Violation[] },
  publish: PublishWithRetry,
): Promise<void> {
  const { key, value } = boundedCopy(record, MAX_ORIGINAL_BYTES);
  const detail = why.violations.map(({ property, reason }) => `${property} ${reason}`.trim()).join('; ');
  return publish({
    topic: TOPICS.rejected,
    key,
    value,
    headers: {
      'reject-reason': why.reason,
      ...(detail === '' ? {} : { 'reject-detail': detail.slice(0, MAX_DETAIL_CHARACTERS) }),
      'origin-topic': record.topic,
      'origin-partition': String(record.partition),
      'origin-offset': String(record.offset),
      'origin-timestamp': String(record.timestamp),
      ...(record.value === null || value === record.value ? {} : truncationHeaders('original', record.value)),
    },
  });
}
