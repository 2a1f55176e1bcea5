import type { Kafka } from './kafkajs-adapter/create-kafka.js';
import type { KafkaRecord } from './record.js';

/** End offset (the offset the next record will get) by partition number. */
export type EndOffsets = ReadonlyMap<number, number>;

export interface TableReaderOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /** Called in the order of each partition. Must not throw: a record that cannot be used is the caller's to report. */
  readonly onRecord: (record: KafkaRecord) => void;
  /** The reader cannot go on (not authorised). */
  readonly onFatal?: (error: Error) => void;
  /** How long a fetch waits at the end of the topic (default 200). */
  readonly maxWaitMs?: number;
}

export interface TableReader {
  /** Resolves when each partition was read to the end it had when the reader was opened. */
  readonly caughtUp: Promise<void>;
  /**
   * `performance.now()` of the start of the oldest of each partition's last fetch that proved the reader to be at the
   * end (an empty fetch counts), and of the last request that found no other partitions; -Infinity before that. `performance.now() - freshAt() <= 700` means fresh everywhere.
   */
  freshAt(): number;
  /** Whether the reader's position has passed these end offsets, on every partition named. */
  passed(ends: EndOffsets): boolean;
  /** The next offset of each partition: fetch positions, markers and empty batches included. */
  positions(): EndOffsets;
  /** The topic's end offsets now. */
  fetchEnds(options?: { readonly deadlineMs?: number }): Promise<EndOffsets>;
  close(): Promise<void>;
}
