import type { KafkaRecord, TopicPartition } from '../record.js';
import { AT, batchAt, batchFault, isCurrentFormat, offsetAfter } from './batch-frame.js';
import { readInt64 } from './bytes.js';
import { unpack } from './codecs.js';
import { asError } from './as-error.js';
import { FetchedRecord, VarintReader } from './fetched-record.js';
import type { AbortedTransaction } from './fetch-protocol.js';

const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
const ABORT_MARKER = 0;
const NO_MARKER = -1;
const NO_BYTES = Buffer.alloc(0);

/** Fetched bytes of one partition. */
export interface FetchedBlock {
  /** Whole batches. */
  readonly batches: Buffer;
  /** Records before this offset are not given (a fetch starts at a batch's first record). */
  readonly from: number;
  readonly aborted: readonly AbortedTransaction[];
}

/**
 * Gives the records of a fetched block one by one, so that a full window costs nothing: no record is decoded before
 * there is capacity for it. Batches of aborted transactions, markers and empty batches give none, but `position` passes them.
 */
export class RecordCursor {
  /** The offset after everything given (or passed over) so far. */
  position: number;
  readonly #place: TopicPartition;
  readonly #batches: Buffer;
  readonly #aborted: AbortedTransaction[];
  readonly #abortedProducers = new Set<number>();
  #at = 0;
  #records = new VarintReader(NO_BYTES, 0);
  #left = 0;
  #batch: Buffer = NO_BYTES;
  /** The offset after the batch. */
  #batchEnd = 0;
  #fault: string | undefined;

  constructor(place: TopicPartition, { batches, from, aborted }: FetchedBlock) {
    this.#place = place;
    this.#batches = batches;
    this.position = from;
    this.#aborted = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** The next record, or undefined when the block is used up (`position` is then its end). */
  next(): KafkaRecord | undefined {
    for (;;) {
      while (this.#left > 0) {
        const record = this.#nextOfBatch();
        if (record.offset < this.position) continue;
        this.position = record.offset + 1;
        if (record.undecodable !== undefined) this.position = Math.max(this.position, this.#batchEnd);
        return record;
      }
      this.position = Math.max(this.position, this.#batchEnd);
      if (this.#at >= this.#batches.length) return undefined;
      this.#enterBatch();
    }
  }

  #enterBatch(): void {
    const batch = batchAt(this.#batches, this.#at);
    this.#batch = batch;
    this.#batchEnd = offsetAfter(batch);
    this.#at += batch.length;
    this.#left = 0;
    this.#fault = batchFault(batch, this.position);
    if (this.#fault !== undefined) this.#left = 1;
    else if (!this.#passesOver(batch)) this.#openRecords(batch);
  }

  /** Follows Java's `CompletedFetch`: markers and records of aborted transactions are passed over batch by batch. */
  #passesOver(batch: Buffer): boolean {
    const attributes = batch.readInt16BE(AT.attributes);
    const producerId = readInt64(batch, AT.producer);
    while (this.#aborted[0] !== undefined && this.#aborted[0].firstOffset < this.#batchEnd) {
      this.#abortedProducers.add(this.#aborted[0].producerId);
      this.#aborted.shift();
    }
    if (attributes & CONTROL) {
      if (markerType(batch) === ABORT_MARKER) this.#abortedProducers.delete(producerId);
      return true;
    }
    return (attributes & TRANSACTIONAL) !== 0 && this.#abortedProducers.has(producerId);
  }

  #openRecords(batch: Buffer): void {
    this.#left = batch.readInt32BE(AT.count);
    try {
      const packed = batch.subarray(AT.records);
      const data = this.#left > 0 ? unpack(batch.readInt16BE(AT.attributes), packed) : NO_BYTES;
      this.#records = new VarintReader(data, 0);
    } catch (error) {
      this.#fault = asError(error).message;
      this.#left = 1;
    }
  }

  #nextOfBatch(): KafkaRecord {
    if (this.#fault !== undefined) return this.#undecodable(this.#fault);
    try {
      this.#left -= 1;
      return this.#decodeRecord();
    } catch (error) {
      return this.#undecodable(asError(error).message);
    }
  }

  #decodeRecord(): KafkaRecord {
    const reader = this.#records;
    const length = reader.next();
    const end = reader.at + length;
    if (length <= 0 || end > reader.data.length) throw new Error('a record reaches beyond its batch');
    reader.at += 1; // attributes, unused
    const batch = this.#batch;
    const timeDelta = reader.next();
    const offset = readInt64(batch, 0) + reader.next();
    const appendTime = (batch.readInt16BE(AT.attributes) & LOG_APPEND_TIME) !== 0;
    const timestamp = appendTime ? readInt64(batch, AT.maxTime) : readInt64(batch, AT.baseTime) + timeDelta;
    const { topic, partition } = this.#place;
    // A record owns its bytes: it may be held long after the block is used up.
    const body = Buffer.from(reader.data.subarray(reader.at, end));
    reader.at = end;
    return new FetchedRecord({ topic, partition, offset, timestamp }, body);
  }

  /** One record that stands for the rest of its batch, so that the caller can report it and the partition moves on. */
  #undecodable(reason: string): KafkaRecord {
    this.#left = 0;
    const value = Buffer.from(this.#batch);
    const dated = value.length >= AT.records && isCurrentFormat(value);
    const timestamp = dated ? readInt64(value, AT.maxTime) : Date.now();
    const { topic, partition } = this.#place;
    const offset = this.position;
    const size = value.length;
    return { topic, partition, offset, timestamp, key: null, value, headers: {}, size, undecodable: reason };
  }
}

/** A marker's key is (version int16, type int16). Control batches hold one record, or none after compaction, never packed. */
function markerType(batch: Buffer): number {
  if (batch.readInt32BE(AT.count) === 0) return NO_MARKER;
  const record = new VarintReader(batch, AT.records);
  record.next(); // length
  record.at += 1; // attributes
  record.next(); // timestamp delta
  record.next(); // offset delta
  const key = record.bytes(batch.length);
  return key !== null && key.length >= 4 ? key.readInt16BE(2) : NO_MARKER;
}
