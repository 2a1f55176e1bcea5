import { TOPICS } from '@webhooks/contracts';
import type { Violation } from '@webhooks/contracts';
import type { KafkaRecord, OnPoison } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import { boundedCopy, cutNote } from './bounded-copy.js';
import { isLastingFault } from './publisher.js';
import type { PublishWithRetry } from './publisher.js';

/**
 * Records that one worker may put aside in a minute. A poisoned record comes alone; many are a bug that would empty a
 * topic.
 */
const MAX_RECORDS = 10;
const WINDOW_MS = 60_000;

/** The budget of all sources of a worker. `now`: monotonic milliseconds. */
export function createQuarantineBudget(log: Logger, now = () => performance.now()) {
  const taken: number[] = [];
  let deniedAt = Number.NEGATIVE_INFINITY;
  const isExhausted = (): boolean => now() - deniedAt < WINDOW_MS;
  const deny = (): false => {
    if (!isExhausted())
      log.error('no more records are put aside for now: this is a bug of ours, not of the records', {
        records: MAX_RECORDS,
        withinMs: WINDOW_MS,
      });
    deniedAt = now();
    return false;
  };
  return {
    /** Returns whether one more record may be put aside now. */
    take: (): boolean => {
      const [oldest = Number.NEGATIVE_INFINITY] = taken;
      if (taken.length >= MAX_RECORDS && now() - oldest < WINDOW_MS) return deny();
      if (taken.push(now()) > MAX_RECORDS) taken.shift();
      return true;
    },
    /** Returns the last take: the record could not be put aside and is tried again. */
    giveBack: (): void => void taken.pop(),
    /** Why the worker is not ready: the budget was exhausted within the last minute. */
    fault: () =>
      isExhausted() ? `more than ${MAX_RECORDS} records a minute fail by our own fault` : undefined,
  };
}

export type QuarantineBudget = ReturnType<typeof createQuarantineBudget>;

/** About three seconds. Each try may post the record's neighbours again, so there are few. */
const TRIES = 5;

/** Value of `reject-reason` and `dead-reason` for a record that was put aside. */
export const NOT_HANDLED = 'not-handled';

interface QuarantineOptions {
  /** Keeps the record for operators. Rejects when the worker stops first. */
  readonly keep: (record: KafkaRecord, fault: string) => Promise<unknown>;
  readonly log: Logger;
  readonly budget: Pick<QuarantineBudget, 'take' | 'giveBack'>;
}

/**
 * Puts a record aside that our own code fails at again and again, or that Kafka refuses, so that its partition goes
 * on. Other faults are tried for ever, and so is a record beyond the budget. That stops its partition, which is
 * better than putting a whole topic aside.
 */
export function createQuarantine({ keep, log, budget }: QuarantineOptions): OnPoison {
  const putAside = async (record: KafkaRecord, error: Error, times: number): Promise<void> => {
    try {
      await keep(record, error.name);
    } catch (fault) {
      // Otherwise one record that cannot be put aside would use up the budget.
      budget.giveBack();
      throw fault;
    }
    const { topic, partition, offset } = record;
    const place = { topic, partition, offset, times };
    const fields = { ...place, error: error.stack ?? error.message };
    log.error('a record was put aside: it fails each time by our own fault', fields);
  };
  return ({ record, error, times }) => {
    if (times < TRIES || !isLastingFault(error) || !budget.take()) return undefined;
    return putAside(record, error, times);
  };
}

/** Below the 16 MiB of the topic, with room for key and headers. */
const MAX_ORIGINAL_BYTES = 15 * 1_048_576;
const MAX_DETAIL_CHARACTERS = 1_000;

/**
 * Writes a record that is no event to `payments.events.rejected`: reason and place in headers, the original bytes as
 * value.
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
      ...(record.value === null || value === record.value ? {} : cutNote('original', record.value)),
    },
  });
}
