import type { KafkaRecord } from '@webhooks/kafka';

/** What is made of a topic: applied again and again, in any order of partitions, it comes to the same documents. */
export interface Projection {
  /** Part of the consumer group's name and of the metrics. */
  readonly name: string;
  readonly topics: readonly string[];
  /** Bytes of records that are written together, at most, or one larger record; default: all that wait. */
  readonly maxBytes?: number;
  /** Time from the begin of one batch to that of the next, at least, unless a full one waits; default 0. */
  readonly intervalMs?: number;
  /** Whether an instance that does not read a partition waits for it: then how far it is written is told in the database. */
  readonly publishesPositions?: boolean;
  /** Writes what the records tell. Must be idempotent: after a rejection it is called again with the same records. */
  readonly apply: (records: readonly KafkaRecord[]) => Promise<void>;
}
