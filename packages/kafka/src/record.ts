/** Header values as bytes; of a repeated header the last one counts, a null value is an empty buffer. */
export type RecordHeaders = Readonly<Record<string, Buffer>>;

/** A partition of a topic. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * One record as read from a topic.
 *
 * Offsets are numbers: a partition that gains a million records a second reaches 2^53 after 285 years, and a number
 * costs nothing where a bigint or a string is allocated for each record. A record owns its bytes, so it keeps no fetched block in
 * memory.
 */
export interface KafkaRecord extends TopicPartition {
  readonly offset: number;
  /** Milliseconds since 1970: the producer's time, or the broker's when the topic says LogAppendTime. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
  /** Bytes of key, value and headers. */
  readonly size: number;
  /**
   * Set when the batch could not be decoded (unknown codec, damaged bytes, larger than 64 MiB unpacked). The value is
   * then the batch as it lies in the log, and this one record stands for all offsets of the batch.
   */
  readonly undecodable?: string;
}
