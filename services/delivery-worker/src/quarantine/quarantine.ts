import type { KafkaRecord, OnPoison } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import { isLastingFault } from '../publish/lasting-fault.js';
import type { QuarantineBudget } from './budget.js';

/** About three seconds. Each try may post again to the neighbours of what fails, so they are few. */
const TRIES = 5;

/** Of a record that was put aside for it, in `reject-reason` and `dead-reason`. */
export const NOT_HANDLED = 'not-handled';

export interface QuarantineOptions {
  /** Keeps the record where operators find it; rejects when the worker stops before. */
  readonly keep: (record: KafkaRecord, fault: string) => Promise<unknown>;
  readonly log: Logger;
  readonly budget: Pick<QuarantineBudget, 'take' | 'giveBack'>;
}

/**
 * Puts a record aside that our own code fails at again and again, or that Kafka does not take on, so that the positions of its
 * partition go on. A fault that is none of the record's is tried for ever, and so is a record beyond the budget: it keeps its
 * partition back, which is better than to put a whole topic aside.
 */
export function createQuarantine({ keep, log, budget }: QuarantineOptions): OnPoison {
  const putAside = async (record: KafkaRecord, error: Error, times: number): Promise<void> => {
    try {
      await keep(record, error.name);
    } catch (fault) {
      // A record that cannot be put aside costs nothing of the budget, or one of them would keep all others from it.
      budget.giveBack();
      throw fault;
    }
    const { topic, partition, offset } = record;
    const place = { topic, partition, offset, times };
    const told = { ...place, error: error.stack ?? error.message };
    log.error('a record was put aside: it fails each time by our own fault', told);
  };
  return ({ record, error, times }) => {
    if (times < TRIES || !isLastingFault(error) || !budget.take()) return undefined;
    return putAside(record, error, times);
  };
}
