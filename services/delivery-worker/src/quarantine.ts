import type { GiveUp, KafkaRecord } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';

/** About three seconds. Each try may post again to the neighbours of what fails, so they are few. */
const TRIES = 5;
/** What the language itself throws: a fault of our code, which the next try will meet again. */
const FAULTS_OF_CODE = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']);

/** Of a record that was put aside for it, in `reject-reason` and `dead-reason`. */
export const NOT_HANDLED = 'not-handled';

export interface QuarantineOptions {
  /** Keeps the record where operators find it; rejects when the worker stops before. */
  readonly keep: (record: KafkaRecord, fault: string) => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Puts a record aside that our own code fails at again and again, so that the positions of its partition go on. A fault of what
 * surrounds us (Kafka away, a stale picture, a stop) is none of the record's, however long it lasts: that is tried for ever.
 */
export function createQuarantine({ keep, log }: QuarantineOptions): GiveUp {
  return ({ record, error, times }) => {
    if (times < TRIES || !(error instanceof Error) || !FAULTS_OF_CODE.has(error.name)) return undefined;
    const { topic, partition, offset } = record;
    log.error('a record was put aside: our own code fails at it', {
      topic,
      partition,
      offset,
      times,
      error: error.stack ?? error.message,
    });
    return keep(record, error.name);
  };
}
