import type { KafkaRecord, TopicPartition, RecordHeaders } from '../record.js';
import { batchAt, checkBatch, HEADER_BYTES, MAGIC, offsetAfter, readHeader } from './batch-frame.js';
import type { BatchHeader } from './batch-frame.js';
import { ByteReader } from './bytes.js';
import { unpack } from './codecs.js';
import type { AbortedTransaction } from './protocol.js';

const NONE: RecordHeaders = Object.freeze(Object.create(null) as RecordHeaders);
const EMPTY = Buffer.alloc(0);

/** Key and headers are decoded when they are read: most readers of most records never do. */
class FetchedRecord implements KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly value: Buffer | null;
  readonly size: number;
  readonly #data: Buffer;
  readonly #headersAt: number;

  /** `body`: from the length of the key on. Throws when a length points outside it. */
  constructor(place: TopicPartition, offset: number, timestamp: number, body: Buffer) {
    const reader = new ByteReader(body);
    this.topic = place.topic;
    this.partition = place.partition;
    this.offset = offset;
    this.timestamp = timestamp;
    this.size = body.length;
    reader.skipContent(); // the key
    this.value = reader.content();
    this.#data = body;
    this.#headersAt = reader.at;
  }

  get key(): Buffer | null {
    return new ByteReader(this.#data).content();
  }

  /**
   * Decoded anew each time, and not kept: a record that has waited for long is in the collector's old generation, and what
   * it refers to would be moved there as well.
   */
  get headers(): RecordHeaders {
    if (this.#data[this.#headersAt] === 0) return NONE;
    const headers = Object.create(null) as Record<string, Buffer>;
    this.#readHeaders((reader) => {
      const name = reader.content()?.toString() ?? '';
      headers[name] = reader.content() ?? EMPTY;
    });
    return headers;
  }

  /** The one header of this name, as in `headers`, without decoding the others. */
  header(name: string): Buffer | undefined {
    let found: Buffer | undefined;
    this.#readHeaders((reader) => {
      const length = reader.skipContent();
      const isWanted =
        length === name.length && reader.data.toString('latin1', reader.at - length, reader.at) === name;
      if (isWanted) found = reader.content() ?? EMPTY;
      else reader.skipContent();
    });
    return found;
  }

  /** The value is intact whatever its headers are: its reader decides. */
  #readHeaders(read: (reader: ByteReader) => void): void {
    const reader = new ByteReader(this.#data, this.#headersAt);
    try {
      for (let left = reader.varint(); left > 0; left -= 1) read(reader);
    } catch {
      // Those before the damage count.
    }
  }
}

/** Bytes of one header of a record, or undefined; of a repeated header the last one counts. `name` is ASCII and not empty. */
export function headerOf(record: KafkaRecord, name: string): Buffer | undefined {
  return record instanceof FetchedRecord ? record.header(name) : record.headers[name];
}

const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
const ABORT_MARKER = 0;
const NO_BYTES = Buffer.alloc(0);

/** Fetched bytes of one partition. */
interface FetchedBlock {
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
  #batch: Buffer = NO_BYTES;
  /** The offset after the batch; when its length is damaged, still that after the one before. */
  #batchEnd = 0;
  #header: BatchHeader | undefined;
  #records = new ByteReader(NO_BYTES);
  #left = 0;

  constructor(place: TopicPartition, { batches, from, aborted }: FetchedBlock) {
    this.#place = place;
    this.#batches = batches;
    this.position = from;
    this.#aborted = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** The next record, or undefined when the block is used up (`position` is then its end). */
  next(): KafkaRecord | undefined {
    try {
      for (let header = this.#batchOfNext(); header !== undefined; header = this.#batchOfNext()) {
        this.#left -= 1;
        const record = this.#decodeRecord(header);
        if (record.offset < this.position) continue;
        this.position = record.offset + 1;
        return record;
      }
      return undefined;
    } catch (error) {
      return this.#undecodable(error instanceof Error ? error.message : String(error));
    }
  }

  /** The header of the batch that holds the next record; undefined when the block is used up. */
  #batchOfNext(): BatchHeader | undefined {
    while (this.#left <= 0) {
      this.position = Math.max(this.position, this.#batchEnd);
      if (this.#at >= this.#batches.length) return undefined;
      this.#enterBatch();
    }
    return this.#header;
  }

  #enterBatch(): void {
    const batch = batchAt(this.#batches, this.#at);
    this.#at += batch.length;
    this.#batch = batch;
    this.#header = undefined;
    const header = readHeader(batch);
    this.#header = header;
    this.#batchEnd = offsetAfter(batch, header);
    checkBatch(batch, header);
    if (this.#batchEnd <= this.position) throw new Error('the batch ends before the requested offset');
    if (this.#passesOver(header) || header.count <= 0) return;
    this.#records = new ByteReader(unpack(header.attributes, batch.subarray(HEADER_BYTES)));
    this.#left = header.count;
  }

  /** Follows Java's `CompletedFetch`: markers and records of aborted transactions are passed over batch by batch. */
  #passesOver(header: BatchHeader): boolean {
    const { attributes, producerId } = header;
    while (this.#aborted[0] !== undefined && this.#aborted[0].firstOffset < this.#batchEnd) {
      this.#abortedProducers.add(this.#aborted[0].producerId);
      this.#aborted.shift();
    }
    if (attributes & CONTROL) {
      if (this.#markerType(header) === ABORT_MARKER) this.#abortedProducers.delete(producerId);
      return true;
    }
    return (attributes & TRANSACTIONAL) !== 0 && this.#abortedProducers.has(producerId);
  }

  /** A marker's key is (version int16, type int16). Control batches hold one record, or none after compaction, never packed. */
  #markerType(header: BatchHeader): number | undefined {
    if (header.count === 0) return undefined;
    this.#records = new ByteReader(this.#batch, HEADER_BYTES);
    return this.#decodeRecord(header).key?.readInt16BE(2);
  }

  #decodeRecord({ base, attributes, baseTime, maxTime }: BatchHeader): KafkaRecord {
    const reader = this.#records;
    const length = reader.varint();
    const end = reader.at + length;
    if (length <= 0 || end > reader.data.length) throw new Error('a record reaches beyond its batch');
    reader.at += 1; // attributes, unused
    const timeDelta = reader.varint();
    const offset = base + reader.varint();
    const timestamp = attributes & LOG_APPEND_TIME ? maxTime : baseTime + timeDelta;
    // A record owns its bytes: it may be held long after the block is used up.
    const body = Buffer.from(reader.data.subarray(reader.at, end));
    reader.at = end;
    return new FetchedRecord(this.#place, offset, timestamp, body);
  }

  /** One record that stands for the rest of its batch, so that the caller can report it and the partition moves on. */
  #undecodable(reason: string): KafkaRecord {
    this.#left = 0;
    const value = Buffer.from(this.#batch);
    const timestamp = this.#header?.magic === MAGIC ? this.#header.maxTime : Date.now();
    const { topic, partition } = this.#place;
    const offset = this.position;
    this.position = Math.max(offset + 1, this.#batchEnd);
    const size = value.length;
    return { topic, partition, offset, timestamp, key: null, value, headers: {}, size, undecodable: reason };
  }
}
