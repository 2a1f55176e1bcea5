/** A batch of these many records or bytes is large enough to be cheap; more go to the next partition, so that they spread. */
const ENOUGH_RECORDS = 64;
const ENOUGH_BYTES = 64 * 1024;

export interface StickyChoice {
  readonly topic: string;
  /** How many the topic has. */
  readonly partitions: number;
  /** Bytes of the record to be placed. */
  readonly size: number;
  /** Whether nothing waits for this partition. */
  readonly isEmpty: (partition: number) => boolean;
}

interface Current {
  partition: number;
  records: number;
  bytes: number;
}

/**
 * Kafka's sticky partitioner: records of a topic go to one partition until its batch has left or is large enough, then to
 * the next one, so that over time each partition gets its share.
 */
export class StickyPartitioner {
  readonly #current = new Map<string, Current>();

  choose({ topic, partitions, size, isEmpty }: StickyChoice): number {
    const current = this.#current.get(topic) ?? this.#begin(topic, partitions);
    const isEnough = current.records >= ENOUGH_RECORDS || current.bytes + size > ENOUGH_BYTES;
    if (current.records > 0 && (isEnough || isEmpty(current.partition))) {
      current.partition = (current.partition + 1) % partitions;
      current.records = 0;
      current.bytes = 0;
    }
    current.records += 1;
    current.bytes += size;
    return current.partition;
  }

  /** Not the first one for everybody: processes that start together would fill the same partitions. */
  #begin(topic: string, partitions: number): Current {
    const current = { partition: Math.floor(Math.random() * partitions), records: 0, bytes: 0 };
    this.#current.set(topic, current);
    return current;
  }
}
