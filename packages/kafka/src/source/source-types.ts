import type { Kafka } from '../kafkajs/create-kafka.js';
import type { KafkaRecord, TopicPartition } from '../record.js';

/** Bounds of what is open at the same time. A reached bound pauses reading; it never drops a record. */
interface Window {
  /** Records given to `handle` and not settled, over all partitions; minimum 1. */
  readonly maxInFlight: number;
  /** Bytes of those records. A larger record is still handled, alone. */
  readonly maxInFlightBytes: number;
  /** Offsets of one partition between its watermark and the newest record taken; default 200,000. */
  readonly maxSpan?: number;
  /** A bound of the handler's own, read before each record; default: none. Call the source's `resume` when there is capacity again. */
  readonly hasCapacity?: () => boolean;
}

/** A record whose handler failed. */
export interface Unhandled {
  readonly record: KafkaRecord;
  /** What its handler threw or rejected with. */
  readonly error: unknown;
  /** Failed calls so far, from 1. */
  readonly times: number;
}

/**
 * Decides about a record whose handler failed. Undefined: `handle` is called again. A promise: the record counts as handled when it
 * resolves, as when it was kept elsewhere, and `handle` is called again when it rejects. Must not throw.
 */
export type OnPoison = (unhandled: Unhandled) => Promise<unknown> | undefined;

export interface SourceOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly window: Window;
  /** Resolves, with any value, when the record is handled. After a rejection it is called again later; no record is skipped. */
  readonly handle: (record: KafkaRecord) => Promise<unknown>;
  /** Called after each failed call of `handle`. Default: `handle` is called again for ever. */
  readonly onPoison?: OnPoison;
  /** The source cannot go on: it is not authorised, or had no membership for `fatalAfterMs`. The process should end non-zero. */
  readonly onFatal?: (error: Error) => void;
  /** Longest time without membership, in milliseconds; default 300,000. Then `onFatal` is called, and opening rejects. */
  readonly fatalAfterMs?: number;
}

/** A topic whose records wait. Each is read when the broker's append time + `delayMs` has come. */
interface DelayTier {
  readonly topic: string;
  readonly delayMs: number;
}

export interface DelayedSourceOptions extends Omit<SourceOptions, 'topics' | 'handle'> {
  readonly tiers: readonly DelayTier[];
  /** When the record is due, in milliseconds since 1970; undefined (unreadable) means now. Must not throw. */
  readonly dueAt: (record: KafkaRecord) => number | undefined;
  /** Called when the record is due. After a rejection it is called again later. */
  readonly release: (record: KafkaRecord) => Promise<void>;
  /**
   * Called when `remainingMs` is `maxHeapWaitMs` or more: write the record to the longest tier that is not longer than that. Also
   * called, with any `remainingMs`, for what waits in memory when the source stops: the shortest tier is enough then.
   */
  readonly move: (record: KafkaRecord, remainingMs: number) => Promise<void>;
  /** Records that are due sooner wait in memory, in milliseconds; default 5,000. */
  readonly maxHeapWaitMs?: number;
  /** Records that may wait in memory, with 64 MiB of bytes; default 50,000. A full memory pauses the partitions. */
  readonly maxWaiting?: number;
  /** Milliseconds since 1970 (default `Date.now`). */
  readonly now?: () => number;
}

/** Everything below `offset` is handled, transaction markers and compacted records included. */
export interface PartitionPosition extends TopicPartition {
  readonly offset: number;
}
