import type { GiveUp, KafkaRecord } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import { isLastingFault } from './lasting-fault.js';

/** About three seconds. Each try may post again to the neighbours of what fails, so they are few. */
const TRIES = 5;

/** Of a record that was put aside for it, in `reject-reason` and `dead-reason`. */
export const NOT_HANDLED = 'not-handled';

export interface QuarantineOptions {
  /** Keeps the record where operators find it; rejects when the worker stops before. */
  readonly keep: (record: KafkaRecord, fault: string) => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Puts a record aside that our own code fails at again and again, or that Kafka does not take on, so that the positions of its
 * partition go on. A fault that is none of the record's is tried for ever.
 */
export function createQuarantine({ keep, log }: QuarantineOptions): GiveUp {
  return ({ record, error, times }) => {
    if (times < TRIES || !isLastingFault(error)) return undefined;
    const { topic, partition, offset } = record;
    log.error('a record was put aside: it fails each time by our own fault', {
      topic,
      partition,
      offset,
      times,
      error: error.stack ?? error.message,
    });
    return keep(record, error.name);
  };
}
