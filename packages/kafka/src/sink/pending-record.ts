import { encodeBody } from '../wire/record-batch.js';
import type { Kafka } from '../kafkajs/create-kafka.js';
import type { SINK } from '../limits.js';

export interface OutgoingRecord {
  readonly topic: string;
  /** Chooses the partition as Java clients do (murmur2). A record has a key or names its partition. */
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, string | Buffer>>;
  readonly partition?: number;
}

/** See `SINK` for the defaults. */
export interface SinkOptions extends Partial<typeof SINK> {
  readonly kafka: Kafka;
}

export interface SendOptions {
  /** Time until the promise rejects with `SinkTimeout`, in milliseconds; default 30,000. */
  readonly deadlineMs?: number;
}

/** More bytes wait than the bound allows. The caller should slow down (HTTP: 503). */
export class SinkOverloaded extends Error {
  override readonly name = 'SinkOverloaded';
}

/** No acknowledgement came before the caller's deadline. The record may have been written. */
export class SinkTimeout extends Error {
  override readonly name = 'SinkTimeout';
}

/** The broker refuses this record for good (too large, not authorised). Its neighbours are sent. */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused';
  /** Kafka's name of the error. */
  readonly reason: string;

  constructor(code: number, reason: string, topic: string) {
    super(`Kafka refuses a record for ${topic}: ${reason} (${code})`);
    this.reason = reason;
  }
}

/** `send` after `close`. */
export class SinkClosed extends Error {
  override readonly name = 'SinkClosed';
}

/** Bytes of a pending record beside its body. An event of 150 bytes in `ingest` holds 3.4 KB with its promises and parsed form. */
export const PENDING_RECORD_BYTES = 3_072;

/** A record that is being sent. It is encoded once, however often its batches are sent. */
export interface PendingRecord {
  readonly topic: string;
  /** Decides the partition; undefined when the caller named it. */
  readonly key: Buffer | undefined;
  readonly partition: number | undefined;
  readonly body: Buffer;
  readonly timestamp: number;
  /** On the clock of `performance.now()`. */
  readonly deadlineAt: number;
  isSettled: boolean;
  readonly settle: (error?: Error) => void;
}

/** Whether the record is not settled yet. */
export const isPending = ({ isSettled }: PendingRecord): boolean => !isSettled;

/** Encodes a record. Throws a TypeError without key and partition: a repeat could go to another partition. */
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
