import type { Kafka } from '../kafkajs/create-kafka.js';
import type { KafkaRecord, TopicPartition } from '../record.js';

/** What may be open at the same time. Each bound pauses reading when it is reached; none of them drops a record. */
interface Window {
  /** Records given to `handle` and not settled, over all partitions. */
  readonly maxInFlight: number;
  /** Their bytes; one record larger than this is still handled, alone. */
  readonly maxInFlightBytes: number;
  /** Offsets of one partition between the commit watermark and the newest record accepted (default 200,000). */
  readonly maxSpan?: number;
  /** A bound of the handler's own, read before each record; call `resume` of the source when there is capacity again. */
  readonly hasCapacity?: () => boolean;
}

/** A record that was not handled, and how often so far. */
export interface Unhandled {
  readonly record: KafkaRecord;
  /** What its handler threw or rejected with. */
  readonly error: unknown;
  /** From 1 on. */
  readonly times: number;
}

/**
 * What to do instead of another call: undefined for another call, or work after which the record counts as handled, such as
 * keeping it elsewhere. When that work rejects, the record is called again. Must not throw.
 */
export type OnPoison = (unhandled: Unhandled) => Promise<unknown> | undefined;

export interface SourceOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly window: Window;
  /** Resolves, with whatever value, when the record is handled. A rejection means "not handled": it is called again later, never skipped. */
  readonly handle: (record: KafkaRecord) => Promise<unknown>;
  /** Called after each call that failed. Default: a record is called again for ever. */
  readonly onPoison?: OnPoison;
  /** The source cannot go on (not authorised, no membership for `fatalAfterMs`): the process should end non-zero. */
  readonly onFatal?: (error: Error) => void;
  /** `onFatal` is called after this long without membership (default 300,000); opening rejects then. */
  readonly fatalAfterMs?: number;
}

/** A topic whose records wait: each is looked at when the broker's append time + `delayMs` has come. */
interface DelayTier {
  readonly topic: string;
  readonly delayMs: number;
}

export interface DelayedSourceOptions extends Omit<SourceOptions, 'topics' | 'handle'> {
  readonly tiers: readonly DelayTier[];
  /** When the record is due, in milliseconds since 1970; undefined (unreadable) means now. Must not throw. */
  readonly dueAt: (record: KafkaRecord) => number | undefined;
  /** Called when the record is due. Settled means handled; a rejection is called again later. */
  readonly release: (record: KafkaRecord) => Promise<void>;
  /**
   * Called when the rest is `maxHeapWaitMs` or more: write it to the largest tier that is not longer than the rest. Also
   * called for what waits in memory when the source stops, with any rest: then the shortest tier will do.
   */
  readonly move: (record: KafkaRecord, remainingMs: number) => Promise<void>;
  /** A shorter rest is waited in memory (default 5,000). */
  readonly maxHeapWaitMs?: number;
  /** Records that wait in memory (default 50,000), with 64 MiB of bytes; when it is full the partition pauses. */
  readonly maxWaiting?: number;
  /** Milliseconds since 1970 (default `Date.now`). */
  readonly now?: () => number;
}

export interface SourceHealth {
  readonly joined: boolean;
  /**
   * `performance.now()` of the last moment when a record was settled, or when the broker responded and nothing was in
   * flight. Alert (and fail liveness) when it lies far behind.
   */
  readonly lastProgressAt: number;
  /** Assigned partitions as `topic/partition` → offsets between the end of the partition and the watermark. */
  readonly lagByPartition: Readonly<Record<string, number>>;
  readonly lag: number;
  /**
   * Age of the oldest record that is not handled, by its time of append; 0 when there is none. Of records that no fetch brings (an
   * open transaction, a partition that cannot be fetched): since they were seen to be there.
   */
  readonly oldestAgeMs: number;
  /** The same for each topic of which partitions are assigned. */
  readonly oldestAgeByTopic: Readonly<Record<string, number>>;
  readonly inFlight: number;
  /** Records whose `handle` rejected and which wait for another call. */
  readonly retrying: number;
  /** Absent when no record waits for another call and nothing went wrong since the last progress. */
  readonly lastError?: string;
  /** Records of a delayed source that wait in memory for their moment. */
  readonly waiting: number;
  /** Times an assignment was received. */
  readonly rebalances: number;
}

interface StopReport {
  /** Everything that was in flight was settled in time. Otherwise the next owner reads the rest again. */
  readonly drained: boolean;
  /** The final watermark of each partition was acknowledged. */
  readonly committed: boolean;
}

/** Everything below `offset` is handled: transaction markers and what was compacted away included. */
export interface PartitionPosition extends TopicPartition {
  readonly offset: number;
}

export interface Source {
  health(): SourceHealth;
  /** How far each assigned partition is handled, also what is not committed yet; see `PartitionPosition`. */
  positions(): readonly PartitionPosition[];
  /** Topics that Kafka does not know; the others are read, and these as soon as they are there. */
  missingTopics(): readonly string[];
  /** Wakes a source that stopped at the window's `hasCapacity`. */
  resume(): void;
  /** pause → drain → commit → leave → disconnect. Never rejects, and returns within `deadlineMs` + 1 s. */
  stop(options: { readonly deadlineMs: number }): Promise<StopReport>;
}
