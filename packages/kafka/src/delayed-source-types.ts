import type { Kafka } from './kafkajs-adapter/create-kafka.js';
import type { KafkaRecord } from './record.js';
import type { GiveUp, Source, SourceHealth, SourceTimings, Window } from './source-types.js';

/** A topic whose records wait: each is looked at when the broker's append time + `delayMs` has come. */
export interface DelayTier {
  readonly topic: string;
  readonly delayMs: number;
}

export interface DelayedSourceOptions extends SourceTimings {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly tiers: readonly DelayTier[];
  readonly window: Window;
  /** When the record is due, in milliseconds since 1970; undefined (unreadable) means now. */
  readonly dueAt: (record: KafkaRecord) => number | undefined;
  /** Called when the record is due. Settled means handled; a rejection is called again later. */
  readonly release: (record: KafkaRecord) => Promise<void>;
  /**
   * Called when the rest is `maxHeapWaitMs` or more: write it to the largest tier that is not longer than the rest. Also
   * called for what waits in memory when the source stops, with any rest: then the shortest tier will do.
   */
  readonly move: (record: KafkaRecord, remainingMs: number) => Promise<void>;
  /** Asked after each call that failed. Default: a record is called again for ever. */
  readonly giveUp?: GiveUp;
  readonly onFatal?: (error: Error) => void;
  /** A shorter rest is waited in memory (default 5,000). */
  readonly maxHeapWaitMs?: number;
  /** Records that wait in memory (default 50,000) and their bytes (default 64 MiB); when full the partition pauses. */
  readonly maxWaiting?: number;
  readonly maxWaitingBytes?: number;
  /** Milliseconds since 1970 (default `Date.now`). */
  readonly now?: () => number;
}

export interface DelayedSourceHealth extends SourceHealth {
  /** Records that wait in memory for their moment. */
  readonly waiting: number;
}

export interface DelayedSource extends Omit<Source, 'health' | 'positions' | 'resume'> {
  health(): DelayedSourceHealth;
}
