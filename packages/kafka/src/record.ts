/** Header values as bytes. Of repeated headers the last one wins. A null value is an empty buffer. */
export type RecordHeaders = Readonly<Record<string, Buffer>>;

/** A partition of a topic. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * One record as read from a topic.
 *
 * Offsets are numbers: a partition that gains a million records a second reaches 2^53 after 285 years. A bigint or
 * string would be an allocation for each record. A record has its own copy of its bytes, so it keeps no fetched
 * block in memory.
 */
export interface KafkaRecord extends TopicPartition {
  readonly offset: number;
  /** Unix milliseconds: the producer's time, or the broker's when the topic has `LogAppendTime`. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
  /** Bytes of key, value and headers. */
  readonly size: number;
  /**
   * Why the batch could not be decoded: unknown codec, damaged bytes, or larger than 64 MiB decompressed. Then the
   * value is the batch as stored in the log, and this one record stands for all offsets of the batch.
   */
  readonly undecodable?: string;
}
