import { encodeBody } from '../wire/record-batch.js';
import type { OutgoingRecord } from './sink-types.js';

/**
 * What a pending record holds beside its body: measured, an event of 150 bytes in `ingest` holds 3.4 KB with its promises, its parsed
 * form and what waits for them.
 */
export const PENDING_RECORD_BYTES = 3_072;

/** A record on its way: encoded once, whatever happens to its batches. */
export interface PendingRecord {
  readonly topic: string;
  /** What decides the partition; undefined when the caller named it. */
  readonly key: Buffer | undefined;
  readonly partition: number | undefined;
  readonly body: Buffer;
  readonly timestamp: number;
  /** On the clock of `performance.now()`. */
  readonly deadlineAt: number;
  isSettled: boolean;
  readonly settle: (error?: Error) => void;
}

/** Whether it waits for its end still. */
export const isPending = ({ isSettled }: PendingRecord): boolean => !isSettled;

/** Throws a TypeError for a record without key and without partition: nothing would say where a repeat belongs. */
export function toPending(
  record: OutgoingRecord,
  deadlineAt: number,
  settle: (error?: Error) => void,
): PendingRecord {
  const { topic, partition, value, headers = {} } = record;
  const key = typeof record.key === 'string' ? Buffer.from(record.key) : (record.key ?? null);
  if (key === null && partition === undefined) {
    throw new TypeError(`a record for ${topic} needs a key or a partition`);
  }
  const body = encodeBody({ key, value, headers: Object.entries(headers) });
  return {
    topic,
    key: key ?? undefined,
    partition,
    body,
    timestamp: Date.now(),
    deadlineAt,
    isSettled: false,
    settle,
  };
}
