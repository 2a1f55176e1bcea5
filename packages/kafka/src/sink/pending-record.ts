import { encodeBody } from '../wire/record-batch.js';
import type { Kafka } from '../kafkajs/create-kafka.js';
import type { SINK } from '../limits.js';

/** A record to send. */
export interface OutgoingRecord {
  readonly topic: string;
  /** Determines the partition as in Java clients (murmur2). A record needs a key or a partition. */
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, string | Buffer>>;
  readonly partition?: number;
}

/** Options of a sink. For the defaults see `SINK`. */
export interface SinkOptions extends Partial<typeof SINK> {
  readonly kafka: Kafka;
}

/**
 * The broker permanently rejects this record (too large, not authorised). The other records of its batch are still
 * sent.
 */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused';
  /** Kafka's name of the error, such as `MESSAGE_TOO_LARGE`. */
  readonly reason: string;

  constructor(code: number, reason: string, topic: string) {
    super(`Kafka refuses a record for ${topic}: ${reason} (${code})`);
    this.reason = reason;
  }
}

/**
 * Memory of a pending record besides its body, bytes. An event of 150 bytes in `ingest` takes 3.4 KB with its
 * promises and parsed form.
 */
export const PENDING_RECORD_BYTES = 3_072;

/** A record that waits for its acknowledgement. It is encoded once, however often its batch is sent. */
export type PendingRecord = ReturnType<typeof toPending>;

/** Whether the record is not settled yet. */
export const isPending = ({ isSettled }: PendingRecord): boolean => !isSettled;

/**
 * Encodes a record. `deadlineAt`: time of `performance.now()`. Throws a TypeError without key and partition, because a
 * retry could go to another partition.
 */
export function toPending(record: OutgoingRecord, deadlineAt: number, settle: (error?: Error) => void) {
  const { topic, partition, value, headers = {} } = record;
  const key = typeof record.key === 'string' ? Buffer.from(record.key) : (record.key ?? null);
  if (key === null && partition === undefined) {
    throw new TypeError(`a record for ${topic} needs a key or a partition`);
  }
  const body = encodeBody({ key, value, headers: Object.entries(headers) });
  return {
    topic,
    /** Determines the partition; undefined when the record had none. */
    key: key ?? undefined,
    partition,
    body,
    timestamp: Date.now(),
    deadlineAt,
    isSettled: false,
    settle,
  };
}
