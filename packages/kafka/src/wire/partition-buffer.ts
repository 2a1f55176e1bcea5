import type { KafkaRecord, TopicPartition } from '../record.js';
import { scanBatches } from './batch-frame.js';
import type { FetchedPartition } from './protocol.js';
import { RecordCursor } from './record-cursor.js';

/** Bytes requested of one partition in one fetch. A larger batch raises it for one fetch. */
const FETCH_BYTES = 256 * 1024;

export interface BufferLimits {
  /** Bytes of one fetch; default 256 KiB. */
  readonly fetchBytes?: number;
  /** Blocks held besides the one that is taken from; default 1. So the next block is fetched while one is handled. */
  readonly readAhead?: number;
}

/** The records of one partition that were fetched and not taken yet, and the offset of the next fetch. */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  /** One block of records for each fetch. */
  readonly #chunks: RecordCursor[] = [];
  readonly #limits: Required<BufferLimits>;
  /** The next record, once `peek` has decoded it. */
  #head: KafkaRecord | undefined;
  /** The offset of the next fetch, behind what is buffered. */
  nextFetch: number;
  #neededBytes = 0;
  /** The broker's end of the partition as of the last fetch; -1 before that. */
  highWatermark = -1;

  constructor(place: TopicPartition, position: number, limits: BufferLimits = {}) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.nextFetch = position;
    this.#limits = { fetchBytes: FETCH_BYTES, readAhead: 1, ...limits };
  }

  /** The offset of the next record. Everything before it was taken, or holds no record. */
  get position(): number {
    return this.#head?.offset ?? this.#chunks[0]?.position ?? this.nextFetch;
  }

  get maxBytes(): number {
    return Math.max(this.#limits.fetchBytes, this.#neededBytes);
  }

  get full(): boolean {
    return this.#chunks.length > this.#limits.readAhead;
  }

  /** Buffers the response to a fetch of `nextFetch`. */
  accept(fetched: FetchedPartition, request: { readonly offset: number }): void {
    this.highWatermark = fetched.highWatermark;
    const scan = scanBatches(fetched.records);
    this.#neededBytes = scan.neededBytes;
    if (scan.nextOffset === undefined) return;
    // A copy, because a view would keep the whole response of the broker in memory.
    const batches = Buffer.from(fetched.records.subarray(0, scan.bytes));
    const { aborted } = fetched;
    this.#chunks.push(new RecordCursor(this, { batches, from: request.offset, aborted }));
    // The header of a damaged batch may name earlier offsets. Its one record stands for at least one offset.
    this.nextFetch = Math.max(scan.nextOffset, request.offset + 1);
  }

  /** Takes the next record; undefined when nothing is buffered. */
  take(): KafkaRecord | undefined {
    const record = this.peek();
    this.#head = undefined;
    return record;
  }

  /** Reads the next record without taking it. */
  peek(): KafkaRecord | undefined {
    for (let chunk = this.#chunks[0]; chunk !== undefined && !this.#head; chunk = this.#chunks[0]) {
      this.#head = chunk.next();
      if (this.#head === undefined) this.#chunks.shift();
    }
    return this.#head;
  }

  /** Drops what is buffered. The next fetch begins at `offset`. */
  seek(offset: number): void {
    this.#chunks.length = 0;
    this.#head = undefined;
    this.#neededBytes = 0;
    this.nextFetch = offset;
  }
}
