import type { KafkaRecord } from '@webhooks/kafka';
import { isRefusal } from './is-refusal.js';
import type { Projection } from './projection.js';

/** Reports a record that was passed over, whole or in part, by one of few words. The record stays in its topic as long as that keeps it. */
export type PassedOver = (record: KafkaRecord, reason: string) => void;

/**
 * A projection that one record cannot stop: a batch that the database refuses is halved until the record is alone, which is
 * reported and passed over, and all others are written. What fails for another reason is tried again as it is.
 */
export function passOverRefused(projection: Projection, report: PassedOver): Projection {
  const apply = async (records: readonly KafkaRecord[]): Promise<void> => {
    try {
      await projection.apply(records);
    } catch (error) {
      const [only, ...others] = records;
      if (!only || !isRefusal(error)) throw error;
      if (others.length === 0) {
        report(only, 'refused');
        return;
      }
      // Halves in turn: those of one partition are written in its order.
      const half = Math.ceil(records.length / 2);
      await apply(records.slice(0, half));
      await apply(records.slice(half));
    }
  };
  return { ...projection, apply };
}
