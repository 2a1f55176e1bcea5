import type { KafkaRecord, TopicPartition } from '../record.js';
import { scanBatches } from './batch-frame.js';
import type { FetchedPartition } from './protocol.js';
import { RecordCursor } from './record-cursor.js';

/** Bytes requested of one partition in one fetch; a batch larger than this raises it for that one fetch. */
const FETCH_BYTES = 256 * 1024;

export interface BufferLimits {
  readonly fetchBytes?: number;
  /** Fetched blocks held beside the one that is taken from (default 1), so that the next is on its way meanwhile. */
  readonly readAhead?: number;
}

/** What was fetched of one partition and not taken yet, and where to go on. */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  /** What each fetch brought. */
  readonly #chunks: RecordCursor[] = [];
  readonly #limits: Required<BufferLimits>;
  /** Decoded to be looked at, not taken yet. */
  #head: KafkaRecord | undefined;
  /** Where to fetch next: beyond what is buffered. */
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

  /** The offset after everything taken: all before it was taken, or holds nothing to take. */
  get position(): number {
    return this.#head?.offset ?? this.#chunks[0]?.position ?? this.nextFetch;
  }

  get maxBytes(): number {
    return Math.max(this.#limits.fetchBytes, this.#neededBytes);
  }

  get full(): boolean {
    return this.#chunks.length > this.#limits.readAhead;
  }

  /** Takes in what a fetch of `nextFetch` returned. */
  accept(fetched: FetchedPartition, request: { readonly offset: number }): void {
    this.highWatermark = fetched.highWatermark;
    const scan = scanBatches(fetched.records);
    this.#neededBytes = scan.neededBytes;
    if (scan.nextOffset === undefined) return;
    // Its own copy: the response holds all partitions of a broker.
    const batches = Buffer.from(fetched.records.subarray(0, scan.bytes));
    const { aborted } = fetched;
    this.#chunks.push(new RecordCursor(this, { batches, from: request.offset, aborted }));
    // What a damaged batch says of its offsets may lie behind: one further is where its record stands for.
    this.nextFetch = Math.max(scan.nextOffset, request.offset + 1);
  }

  /** The next record, or undefined when nothing is buffered. */
  take(): KafkaRecord | undefined {
    const record = this.peek();
    this.#head = undefined;
    return record;
  }

  /** The next record, which stays the next one. */
  peek(): KafkaRecord | undefined {
    for (let chunk = this.#chunks[0]; chunk !== undefined && !this.#head; chunk = this.#chunks[0]) {
      this.#head = chunk.next();
      if (this.#head === undefined) this.#chunks.shift();
    }
    return this.#head;
  }

  /** Forgets what is buffered and goes on at `offset`. */
  seek(offset: number): void {
    this.#chunks.length = 0;
    this.#head = undefined;
    this.#neededBytes = 0;
    this.nextFetch = offset;
  }
}
