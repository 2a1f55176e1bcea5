import type { KafkaRecord, TopicPartition } from '../record.js';
import { scanBatches } from './batch-frame.js';
import type { FetchedPartition } from './protocol.js';
import { RecordCursor } from './record-cursor.js';

/** Bytes requested from one partition in one fetch. A larger batch raises this for one fetch. */
const FETCH_BYTES = 256 * 1024;

export interface BufferLimits {
  /** Bytes of one fetch; default 256 KiB. */
  readonly fetchBytes?: number;
  /**
   * Fetched blocks in the buffer besides the one being read; default 1. So the next block is fetched while one is
   * handled.
   */
  readonly readAhead?: number;
}

/** The fetched records of one partition that were not taken yet, and the offset of the next fetch. */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  /** The buffered blocks, one for each fetch. */
  readonly #chunks: RecordCursor[] = [];
  readonly #limits: Required<BufferLimits>;
  /** The next record, after `peek` has decoded it. */
  #head: KafkaRecord | undefined;
  /** The offset of the next fetch, after the buffered records. */
  nextFetch: number;
  /** Bytes of a batch that the last fetch returned incomplete; otherwise 0. */
  #neededBytes = 0;
  /** The end of the partition that the broker last reported; -1 before the first report. */
  highWatermark = -1;

  constructor(place: TopicPartition, position: number, limits: BufferLimits = {}) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.nextFetch = position;
    this.#limits = { fetchBytes: FETCH_BYTES, readAhead: 1, ...limits };
  }

  /** The offset of the next record. Everything before it was taken or skipped. */
  get position(): number {
    return this.#head?.offset ?? this.#chunks[0]?.position ?? this.nextFetch;
  }

  /** Bytes of the next fetch. */
  get maxBytes(): number {
    return Math.max(this.#limits.fetchBytes, this.#neededBytes);
  }

  /** Whether the buffer needs no fetch now. */
  get full(): boolean {
    return this.#chunks.length > this.#limits.readAhead;
  }

  /** Buffers the response to a fetch of `nextFetch`. */
  accept(fetched: FetchedPartition, request: { readonly offset: number }): void {
    this.highWatermark = fetched.highWatermark;
    const scan = scanBatches(fetched.records);
    this.#neededBytes = scan.neededBytes;
    if (scan.nextOffset === undefined) return;
    // Copied, because a view would keep the broker's whole response in memory.
    const batches = Buffer.from(fetched.records.subarray(0, scan.bytes));
    const { aborted } = fetched;
    this.#chunks.push(new RecordCursor(this, { batches, from: request.offset, aborted }));
    // The header of a corrupt batch may name earlier offsets. The one record that replaces it stands for at least
    // one offset.
    this.nextFetch = Math.max(scan.nextOffset, request.offset + 1);
  }

  /** Takes the next record; undefined when nothing is buffered. */
  take(): KafkaRecord | undefined {
    const record = this.peek();
    this.#head = undefined;
    return record;
  }

  /** Returns the next record without taking it; undefined when nothing is buffered. */
  peek(): KafkaRecord | undefined {
    for (let chunk = this.#chunks[0]; chunk !== undefined && !this.#head; chunk = this.#chunks[0]) {
      this.#head = chunk.next();
      if (this.#head === undefined) this.#chunks.shift();
    }
    return this.#head;
  }

  /** Drops the buffered records. The next fetch begins at `offset`. */
  seek(offset: number): void {
    this.#chunks.length = 0;
    this.#head = undefined;
    this.#neededBytes = 0;
    this.nextFetch = offset;
  }
}
