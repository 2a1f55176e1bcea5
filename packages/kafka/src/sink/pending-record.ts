import { encodeBody } from '../wire/record-batch.js';
import type { Kafka } from '../kafkajs/create-kafka.js';

export interface OutgoingRecord {
  readonly topic: string;
  /** Chooses the partition as Java clients do (murmur2). A record has a key or names its partition. */
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, string | Buffer>>;
  readonly partition?: number;
}

export interface SinkOptions {
  readonly kafka: Kafka;
  /** How long a first record waits for company (default 2). */
  readonly lingerMs?: number;
  /** Records of one request (default 1,000). */
  readonly maxBatchRecords?: number;
  /** Bytes that wait for an acknowledgement; beyond that `send` rejects with `SinkOverloaded` (default 64 MiB). */
  readonly maxPendingBytes?: number;
}

export interface SendOptions {
  /** Time from now until the promise rejects with `SinkTimeout` (default 30,000). */
  readonly deadlineMs?: number;
}

/** More bytes wait than the bound allows: the caller should slow down (HTTP: 503). */
export class SinkOverloaded extends Error {
  override readonly name = 'SinkOverloaded';
}

/** No acknowledgement before the caller's deadline; whether the record was written is unknown. */
export class SinkTimeout extends Error {
  override readonly name = 'SinkTimeout';
}

/** The broker refuses this record for good (too large, not authorised); its neighbours are unharmed. */
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
