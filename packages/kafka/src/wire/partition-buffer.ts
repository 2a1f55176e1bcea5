import type { KafkaRecord, TopicPartition } from '../record.js';
import { scanBatches } from './batch-frame.js';
import { BlockPool } from './block-pool.js';
import type { FetchedPartition } from './fetch-protocol.js';
import { RecordCursor } from './record-cursor.js';

/** Bytes asked of one partition in one fetch; a batch larger than this raises it for that one fetch. */
export const FETCH_BYTES = 256 * 1024;

/** For all partitions of this process. */
const sharedBlocks = new BlockPool();

/** What one fetch brought. */
interface Chunk {
  readonly cursor: RecordCursor;
  /** Where it lies, unless it is too small or too large for the pool: given back when no more of its records are to come. */
  readonly block: Buffer | undefined;
}

export interface BufferLimits {
  readonly fetchBytes?: number;
  /** Fetched blocks held at the same time (default 2). */
  readonly maxChunks?: number;
  /** Default: one for all partitions of this process. */
  readonly blocks?: BlockPool;
}

/** What was fetched of one partition and not taken yet, and where to go on. */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  readonly #chunks: Chunk[] = [];
  readonly #fetchBytes: number;
  readonly #maxChunks: number;
  readonly #blocks: BlockPool;
  /** Decoded to be looked at, not taken yet. */
  #head: KafkaRecord | undefined;
  #nextFetch: number;
  #neededBytes = 0;
  /** The broker's end of the partition as of the last fetch; -1 before that. */
  highWatermark = -1;

  constructor(place: TopicPartition, position: number, limits: BufferLimits = {}) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.#nextFetch = position;
    this.#fetchBytes = limits.fetchBytes ?? FETCH_BYTES;
    this.#maxChunks = limits.maxChunks ?? 2;
    this.#blocks = limits.blocks ?? sharedBlocks;
  }

  /** The offset after everything taken: all before it was taken, or holds nothing to take. */
  get position(): number {
    return this.#head?.offset ?? this.#chunks[0]?.cursor.position ?? this.#nextFetch;
  }

  get nextFetch(): number {
    return this.#nextFetch;
  }

  get maxBytes(): number {
    return Math.max(this.#fetchBytes, this.#neededBytes);
  }

  /** Two blocks by default, so that the next one is on its way while the first is taken. */
  get full(): boolean {
    return this.#chunks.length >= this.#maxChunks;
  }

  /** Takes in what a fetch from `requestedOffset` returned; ignored when the position was moved meanwhile. */
  accept(fetched: FetchedPartition, requestedOffset: number): void {
    if (requestedOffset !== this.#nextFetch) return;
    this.highWatermark = fetched.highWatermark;
    const scan = scanBatches(fetched.records);
    this.#neededBytes = scan.neededBytes;
    if (scan.nextOffset === undefined) return;
    this.#chunks.push(this.#chunkOf(fetched, scan.bytes, requestedOffset));
    // What a damaged batch says of its offsets may lie behind: one further is where its record stands for.
    this.#nextFetch = Math.max(scan.nextOffset, requestedOffset + 1);
  }

  #chunkOf({ records, aborted }: FetchedPartition, bytes: number, from: number): Chunk {
    const fetched = records.subarray(0, bytes);
    const block = this.#blocks.take(bytes);
    const batches = block?.subarray(0, fetched.copy(block)) ?? ofItsOwn(fetched);
    const cursor = new RecordCursor(this, { batches, isLent: block !== undefined, from, aborted });
    return { cursor, block };
  }

  #dropFirst(): void {
    const block = this.#chunks.shift()?.block;
    if (block !== undefined) this.#blocks.giveBack(block);
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
      this.#head = chunk.cursor.next();
      if (this.#head === undefined) this.#dropFirst();
    }
    return this.#head;
  }

  /** Keeps what is buffered and fetches on at `offset`, beyond it: what lies between is gone. */
  skipAhead(offset: number): void {
    this.#nextFetch = Math.max(this.#nextFetch, offset);
  }

  /** Forgets what is buffered and goes on at `offset`. */
  seek(offset: number): void {
    while (this.#chunks.length > 0) this.#dropFirst();
    this.#head = undefined;
    this.#neededBytes = 0;
    this.#nextFetch = offset;
  }
}

/**
 * A record that is handled for long keeps alive what it is a view of: the block of its partition, by this copy, and not
 * the answer for all partitions of a broker.
 */
function ofItsOwn(block: Buffer): Buffer {
  return block.length * 2 < block.buffer.byteLength ? Buffer.from(block) : block;
}
