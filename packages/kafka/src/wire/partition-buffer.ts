import type { KafkaRecord } from '../record.js';
import type { FetchedPartition } from './fetch-protocol.js';
import { RecordCursor, scanBatches } from './record-cursor.js';

/** Bytes asked of one partition in one fetch; a batch larger than this raises it for that one fetch. */
export const FETCH_BYTES = 256 * 1024;

/** What was fetched of one partition and not taken yet, and where to go on. */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  readonly #chunks: RecordCursor[] = [];
  readonly #fetchBytes: number;
  #bufferedBytes = 0;
  #nextFetch: number;
  #neededBytes = 0;
  /** The broker's end of the partition as of the last fetch; -1 before that. */
  highWatermark = -1;

  constructor(topic: string, partition: number, position: number, fetchBytes = FETCH_BYTES) {
    this.topic = topic;
    this.partition = partition;
    this.#nextFetch = position;
    this.#fetchBytes = fetchBytes;
  }

  /** The offset after everything taken: all before it was taken, or holds nothing to take. */
  get position(): number {
    return this.#chunks[0]?.position ?? this.#nextFetch;
  }

  get nextFetch(): number {
    return this.#nextFetch;
  }

  get maxBytes(): number {
    return Math.max(this.#fetchBytes, this.#neededBytes);
  }

  get empty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Two blocks are held at most, so that the next one is on its way while the first is taken. */
  get full(): boolean {
    return this.#chunks.length > 1 || this.#bufferedBytes >= 2 * this.#fetchBytes;
  }

  /** Takes in what a fetch from `requestedOffset` returned; ignored when the position was moved meanwhile. */
  accept(fetched: FetchedPartition, requestedOffset: number): void {
    if (requestedOffset !== this.#nextFetch) return;
    this.highWatermark = fetched.highWatermark;
    const scan = scanBatches(fetched.records);
    this.#neededBytes = scan.neededBytes;
    if (scan.nextOffset === undefined) return;
    const batches = fetched.records.subarray(0, scan.bytes);
    this.#chunks.push(new RecordCursor(this, batches, requestedOffset, fetched.aborted));
    this.#bufferedBytes += scan.bytes;
    this.#nextFetch = Math.max(scan.nextOffset, requestedOffset);
  }

  /** The next record, or undefined when nothing is buffered. */
  take(): KafkaRecord | undefined {
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      const record = chunk.next();
      if (record !== undefined) return record;
      this.#chunks.shift();
      this.#bufferedBytes -= chunk.bytes;
    }
    return undefined;
  }

  /** Forgets what is buffered and goes on at `offset`. */
  seek(offset: number): void {
    this.#chunks.length = 0;
    this.#bufferedBytes = 0;
    this.#neededBytes = 0;
    this.#nextFetch = offset;
  }
}
