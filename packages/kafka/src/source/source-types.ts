import type { Kafka } from '../kafkajs/create-kafka.js';
import type { KafkaRecord, TopicPartition } from '../record.js';

/** Bounds of the records in flight. At a bound, reading pauses; no record is ever dropped. */
interface Window {
  /** Records that were passed to `handle` and are not settled, over all partitions; minimum 1. */
  readonly maxInFlight: number;
  /** Bytes of those records. A larger record is still handled, alone. */
  readonly maxInFlightBytes: number;
  /** Offsets of one partition between its lowest unhandled record and the newest record taken; default 200,000. */
  readonly maxSpan?: number;
  /**
   * A further bound, checked before each record; default: none. Call the source's `resume` when there is capacity
   * again.
   */
  readonly hasCapacity?: () => boolean;
}

/** A record whose handler failed. */
export interface Unhandled {
  readonly record: KafkaRecord;
  /** What the handler threw or rejected with. */
  readonly error: unknown;
  /** Failed calls so far, from 1. */
  readonly times: number;
}

/**
 * Decides about a record whose handler failed. When it returns undefined, `handle` is called again. When it returns
 * a promise that resolves (the record was stored elsewhere), the record counts as handled; when it rejects, `handle`
 * is called again. Must not throw.
 */
export type OnPoison = (unhandled: Unhandled) => Promise<unknown> | undefined;

/** The partition of a record. It is not assigned any more when it was lost, or the source is closed: the next owner handles the record. */
export type Assignment = Readonly<{ assigned: boolean }>;

/** Options of `openSource`. */
export interface SourceOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly window: Window;
  /**
   * Resolves, with any value, when the record is handled. After a rejection it is called again later, while the
   * partition is assigned; no record is skipped.
   */
  readonly handle: (record: KafkaRecord, partition: Assignment) => Promise<unknown>;
  /** Whether the group's position follows what is handled; default true. Otherwise the next member reads all of it again. */
  readonly commits?: boolean;
  /** Called after each failed call of `handle`. Default: `handle` is called again for ever. */
  readonly onPoison?: OnPoison;
  /**
   * Shortest time between two fetches from one broker, milliseconds; default 2. While more waits there for a partition that
   * has room, it is 2.
   */
  readonly fetchIntervalMs?: number | undefined;
  /** Called when positions may have moved: after a response to a fetch (also an empty one), handled records and an assignment. */
  readonly onProgress?: () => void;
  /**
   * Called when the source cannot recover: it had no membership for `fatalAfterMs`. The process should exit with a
   * non-zero code.
   */
  readonly onFatal?: (error: Error) => void;
  /**
   * Longest time without membership, milliseconds; default 300,000. After it `onFatal` is called; a source that is
   * being opened rejects.
   */
  readonly fatalAfterMs?: number;
}

/** A topic of delayed records. Each is taken `delayMs` after the broker appended it. */
interface DelayTier {
  readonly topic: string;
  readonly delayMs: number;
}

/** Options of `openDelayedSource`. */
export interface DelayedSourceOptions extends Omit<SourceOptions, 'topics' | 'handle'> {
  readonly tiers: readonly DelayTier[];
  /** Returns when the record is due, Unix milliseconds. Undefined (unreadable) means now. Must not throw. */
  readonly dueAt: (record: KafkaRecord) => number | undefined;
  /** Called when the record is due. After a rejection it is called again later. */
  readonly release: (record: KafkaRecord) => Promise<void>;
  /**
   * Called when `remainingMs` is `maxHeapWaitMs` or more. It must write the record to the longest tier that is not
   * longer than `remainingMs`. When the source stops, it is also called, with any `remainingMs`, for records that
   * wait in memory: then the shortest tier is enough.
   */
  readonly move: (record: KafkaRecord, remainingMs: number) => Promise<void>;
  /** Records that are due sooner than this wait in memory, milliseconds; default 5,000. */
  readonly maxHeapWaitMs?: number;
  /** Records that may wait in memory; default 50,000, and 64 MiB. When that is full, the partitions pause. */
  readonly maxWaiting?: number;
  /** Returns Unix milliseconds; default `Date.now`. */
  readonly now?: () => number;
}

/** How far a partition is handled: everything below `offset`, transaction markers and compacted records included. */
export interface PartitionPosition extends TopicPartition {
  readonly offset: number;
}
