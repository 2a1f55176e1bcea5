import type { KafkaRecord, TopicPartition } from '../record.js';
import { readInt64 } from './bytes.js';
import { unpack } from './codecs.js';
import { FetchedRecord, VarintReader } from './fetched-record.js';
import type { AbortedTransaction } from './fetch-protocol.js';

// Record batch, magic 2 (protocol guide, "Record Batch"): where its fields lie.
const LENGTH_AT = 8;
const FRAME_BYTES = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const BASE_TIME_AT = 27;
const MAX_TIME_AT = 35;
const PRODUCER_AT = 43;
const COUNT_AT = 57;
const RECORDS_AT = 61;
const MAGIC = 2;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
const ABORT_MARKER = 0;
const NO_BYTES = Buffer.alloc(0);

export interface BatchScan {
  /** Bytes of whole batches; what follows was cut by the fetch limit. */
  readonly bytes: number;
  /** The offset after the last whole batch; undefined when there is none. */
  readonly nextOffset: number | undefined;
  /** What the first batch needs, when not even that one is whole. */
  readonly neededBytes: number;
}

/** The last offset a batch covers. Formats older than 2 carry the last offset of a wrapper as its offset. */
function lastOffset(batches: Buffer, at: number): number {
  const base = readInt64(batches, at);
  return batches[at + MAGIC_AT] === MAGIC ? base + batches.readInt32BE(at + LAST_DELTA_AT) : base;
}

export function scanBatches(batches: Buffer): BatchScan {
  let at = 0;
  let nextOffset: number | undefined;
  while (at + FRAME_BYTES <= batches.length) {
    const end = at + FRAME_BYTES + batches.readInt32BE(at + LENGTH_AT);
    if (end > batches.length) break;
    nextOffset = lastOffset(batches, at) + 1;
    at = end;
  }
  const cut = at === 0 && batches.length >= FRAME_BYTES;
  return { bytes: at, nextOffset, neededBytes: cut ? FRAME_BYTES + batches.readInt32BE(LENGTH_AT) : 0 };
}

/**
 * Gives the records of a fetched block one by one, so that a full window costs nothing: no record is decoded before
 * there is room for it. Batches of aborted transactions, markers and empty batches give none, but `position` passes them.
 */
export class RecordCursor {
  readonly bytes: number;
  /** The offset after everything given (or passed over) so far. */
  position: number;
  readonly #place: TopicPartition;
  readonly #batches: Buffer;
  readonly #aborted: AbortedTransaction[];
  readonly #abortedProducers = new Set<number>();
  #at = 0;
  #end: number;
  #records = new VarintReader(NO_BYTES, 0);
  #left = 0;
  #batchAt = 0;

  /** `batches` are whole batches; records before `from` are not given (a fetch starts at a batch's first record). */
  constructor(place: TopicPartition, batches: Buffer, from: number, aborted: readonly AbortedTransaction[]) {
    this.#place = place;
    this.#batches = batches;
    this.#end = batches.length;
    this.bytes = batches.length;
    this.position = from;
    this.#aborted = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** The next record, or undefined when the block is used up (`position` is then its end). */
  next(): KafkaRecord | undefined {
    for (;;) {
      while (this.#left > 0) {
        const record = this.#nextOfBatch();
        if (record.offset < this.position) continue;
        this.position = record.undecodable === undefined ? record.offset + 1 : this.#batchEnd();
        return record;
      }
      if (this.#at > 0) this.position = Math.max(this.position, this.#batchEnd());
      if (this.#at >= this.#end) return undefined;
      this.#enterBatch();
    }
  }

  #batchEnd(): number {
    return lastOffset(this.#batches, this.#batchAt) + 1;
  }

  #enterBatch(): void {
    const batches = this.#batches;
    const at = this.#at;
    this.#batchAt = at;
    this.#at = at + FRAME_BYTES + batches.readInt32BE(at + LENGTH_AT);
    this.#left = 0;
    if (batches[at + MAGIC_AT] !== MAGIC) {
      this.#left = 1;
      this.#records = new VarintReader(NO_BYTES, 0);
    } else if (!this.#passesOver(at)) {
      this.#openRecords(at);
    }
  }

  /** Follows Java's `CompletedFetch`: markers and records of aborted transactions are passed over batch by batch. */
  #passesOver(at: number): boolean {
    const attributes = this.#batches.readInt16BE(at + ATTRIBUTES_AT);
    const producerId = readInt64(this.#batches, at + PRODUCER_AT);
    const last = lastOffset(this.#batches, at);
    while (this.#aborted[0] !== undefined && this.#aborted[0].firstOffset <= last) {
      this.#abortedProducers.add(this.#aborted[0].producerId);
      this.#aborted.shift();
    }
    if (attributes & CONTROL) {
      if (this.#markerType(at) === ABORT_MARKER) this.#abortedProducers.delete(producerId);
      return true;
    }
    return (attributes & TRANSACTIONAL) !== 0 && this.#abortedProducers.has(producerId);
  }

  /** A marker's key is (version int16, type int16). Control batches hold one record and are never compressed. */
  #markerType(at: number): number {
    const record = new VarintReader(this.#batches, at + RECORDS_AT);
    record.next(); // length
    record.at += 1; // attributes
    record.next(); // timestamp delta
    record.next(); // offset delta
    const key = record.bytes(this.#at);
    return key !== null && key.length >= 4 ? key.readInt16BE(2) : -1;
  }

  #openRecords(at: number): void {
    const batches = this.#batches;
    const packed = batches.subarray(at + RECORDS_AT, this.#at);
    this.#left = batches.readInt32BE(at + COUNT_AT);
    try {
      const data = this.#left > 0 ? unpack(batches.readInt16BE(at + ATTRIBUTES_AT), packed) : NO_BYTES;
      this.#records = new VarintReader(data, 0);
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
      this.#left = 1;
    }
  }

  #fault: string | undefined;

  #nextOfBatch(): KafkaRecord {
    if (this.#fault !== undefined) return this.#undecodable(this.#fault);
    if (this.#batches[this.#batchAt + MAGIC_AT] !== MAGIC) {
      return this.#undecodable(`message format ${String(this.#batches[this.#batchAt + MAGIC_AT])}`);
    }
    try {
      this.#left -= 1;
      return this.#decodeRecord();
    } catch (error) {
      return this.#undecodable(error instanceof Error ? error.message : String(error));
    }
  }

  #decodeRecord(): KafkaRecord {
    const reader = this.#records;
    const length = reader.next();
    const end = reader.at + length;
    if (length <= 0 || end > reader.data.length) throw new Error('a record reaches beyond its batch');
    reader.at += 1; // attributes, unused
    const at = this.#batchAt;
    const timeDelta = reader.next();
    const offset = readInt64(this.#batches, at) + reader.next();
    const appendTime = (this.#batches.readInt16BE(at + ATTRIBUTES_AT) & LOG_APPEND_TIME) !== 0;
    const timestamp = appendTime
      ? readInt64(this.#batches, at + MAX_TIME_AT)
      : readInt64(this.#batches, at + BASE_TIME_AT) + timeDelta;
    const { topic, partition } = this.#place;
    const record = new FetchedRecord({ topic, partition, offset, timestamp }, reader, end);
    reader.at = end;
    return record;
  }

  /** One record that stands for the rest of its batch, so that the caller can report it and the partition moves on. */
  #undecodable(reason: string): KafkaRecord {
    this.#left = 0;
    this.#fault = undefined;
    const value = this.#batches.subarray(this.#batchAt, this.#at);
    const timestamp =
      this.#batches[this.#batchAt + MAGIC_AT] === MAGIC
        ? readInt64(this.#batches, this.#batchAt + MAX_TIME_AT)
        : Date.now();
    const { topic, partition } = this.#place;
    const offset = this.position;
    const size = value.length;
    return { topic, partition, offset, timestamp, key: null, value, headers: {}, size, undecodable: reason };
  }
}
