import type { KafkaRecord } from '@webhooks/kafka';
import { mongo } from 'mongoose';
import type { Projection } from './projection.js';

/**
 * Codes by which a server refuses a document for what it is, now and ever: too large (10334, 17419, 17420), a key of an
 * index too long (17280), not BSON (22), a member's name (52, 56, 57), a rule of the collection (121). Others, such as
 * BadValue, may tell of a statement or of the server: what is tried again is never lost.
 */
const REFUSED: ReadonlySet<unknown> = new Set([10_334, 17_419, 17_420, 17_280, 22, 52, 56, 57, 121]);
/** The driver's own words for it; its other invalid arguments are faults of a program. */
const TOO_LARGE = /^Document is larger than the maximum size/;

/** Whether the database refused a document for what it is, so that trying again changes nothing: an error or its cause. */
export function isRefusal(error: unknown): boolean {
  const { code, cause, writeErrors } = Object(error) as Partial<mongo.MongoBulkWriteError>;
  // The driver encodes a document before it sends it: what is no BSON, too large or longer than its buffer, ends there.
  if (error instanceof mongo.BSON.BSONError || code === 'ERR_OUT_OF_RANGE') return true;
  if (error instanceof mongo.MongoInvalidArgumentError && TOO_LARGE.test(error.message)) return true;
  const faults = error instanceof mongo.MongoServerError ? [error, writeErrors].flat() : [];
  if (faults.some((fault) => REFUSED.has(fault?.code))) return true;
  return cause !== undefined && isRefusal(cause);
}

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
