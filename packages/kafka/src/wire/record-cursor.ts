import type { KafkaRecord, TopicPartition, RecordHeaders } from '../record.js';
import { batchAt, checkBatch, HEADER_BYTES, MAGIC, offsetAfter, readHeader } from './batch-frame.js';
import type { BatchHeader } from './batch-frame.js';
import { ByteReader } from './bytes.js';
import { decompress } from './codecs.js';
import type { AbortedTransaction } from './protocol.js';

const NONE: RecordHeaders = Object.freeze(Object.create(null) as RecordHeaders);
const EMPTY = Buffer.alloc(0);

/** A record whose key and headers are decoded on access, because most are never read. */
class FetchedRecord implements KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly value: Buffer | null;
  readonly size: number;
  readonly #data: Buffer;
  readonly #headersAt: number;

  /** `body` begins with the length of the key. Throws when a length exceeds the body. */
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
   * Decoded on each access and not cached. A long-held record is in the garbage collector's old generation, and
   * cached headers would be promoted there too.
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

  /** Returns the header of this name, as in `headers`, without decoding the others. */
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

  /**
   * Reads the headers up to the first malformed one. The value is intact, so the caller decides what missing headers
   * mean.
   */
  #readHeaders(read: (reader: ByteReader) => void): void {
    const reader = new ByteReader(this.#data, this.#headersAt);
    try {
      for (let left = reader.varint(); left > 0; left -= 1) read(reader);
    } catch {
      // The headers before the malformed one were read.
    }
  }
}

/**
 * Returns the bytes of one header; undefined when it is missing. Of repeated headers the last one wins. `name` must
 * be ASCII and not empty.
 */
export function headerOf(record: KafkaRecord, name: string): Buffer | undefined {
  return record instanceof FetchedRecord ? record.header(name) : record.headers[name];
}

const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
const ABORT_MARKER = 0;

/** The fetched batches of one partition. */
interface FetchedBlock {
  /** Complete batches. */
  readonly batches: Buffer;
  /**
   * The requested offset. Earlier records are skipped: a broker returns whole batches, so the first may begin before
   * it.
   */
  readonly from: number;
  readonly aborted: readonly AbortedTransaction[];
}

/**
 * Decodes the records of a fetched block lazily, one for each call of `next`. Aborted, control and empty batches
 * return no record, but advance `position`.
 */
export class RecordCursor {
  /** The next offset. Everything before it was returned or skipped. */
  position: number;
  readonly #place: TopicPartition;
  readonly #batches: Buffer;
  readonly #aborted: AbortedTransaction[];
  readonly #abortedProducers = new Set<number>();
  #at = 0;
  #batch: Buffer = EMPTY;
  /**
   * The offset after the current batch. When the batch's length is corrupt, it stays at the end of the previous
   * batch.
   */
  #batchEnd = 0;
  #header: BatchHeader | undefined;
  #records = new ByteReader(EMPTY);
  #left = 0;

  constructor(place: TopicPartition, { batches, from, aborted }: FetchedBlock) {
    this.#place = place;
    this.#batches = batches;
    this.position = from;
    this.#aborted = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** Returns the next record; undefined at the end of the block, which is then `position`. */
  next(): KafkaRecord | undefined {
    try {
      for (let header: BatchHeader | undefined; (header = this.#headerOfNextRecord()) !== undefined;) {
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

  /** Returns the header of the batch with the next record; undefined at the end of the block. */
  #headerOfNextRecord(): BatchHeader | undefined {
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
    if (this.#isSkipped(header) || header.count <= 0) return;
    this.#records = new ByteReader(decompress(header.attributes, batch.subarray(HEADER_BYTES)));
    this.#left = header.count;
  }

  /**
   * Whether a batch is skipped: a control batch, or records of an aborted transaction, as in Java's
   * `CompletedFetch`.
   */
  #isSkipped(header: BatchHeader): boolean {
    const { attributes, producerId } = header;
    while (this.#aborted[0] !== undefined && this.#aborted[0].firstOffset < this.#batchEnd) {
      this.#abortedProducers.add(this.#aborted[0].producerId);
      this.#aborted.shift();
    }
    if (attributes & CONTROL) {
      if (this.#controlType(header) === ABORT_MARKER) this.#abortedProducers.delete(producerId);
      return true;
    }
    return (attributes & TRANSACTIONAL) !== 0 && this.#abortedProducers.has(producerId);
  }

  /**
   * The type in a control record's key, after its int16 version. A control batch is never compressed. It has one
   * record, or none after compaction.
   */
  #controlType(header: BatchHeader): number | undefined {
    if (header.count === 0) return undefined;
    this.#records = new ByteReader(this.#batch, HEADER_BYTES);
    return this.#decodeRecord(header).key?.readInt16BE(2);
  }

  #decodeRecord({ base, attributes, baseTime, maxTime }: BatchHeader): KafkaRecord {
    const reader = this.#records;
    const length = reader.varint();
    const end = reader.at + length;
    if (length <= 0 || end > reader.data.length) throw new Error('a record reaches beyond its batch');
    reader.at += 1; // attributes (unused)
    const timeDelta = reader.varint();
    const offset = base + reader.varint();
    const timestamp = attributes & LOG_APPEND_TIME ? maxTime : baseTime + timeDelta;
    // Copied, because a record may be in memory long after its block.
    const body = Buffer.from(reader.data.subarray(reader.at, end));
    reader.at = end;
    return new FetchedRecord(this.#place, offset, timestamp, body);
  }

  /**
   * Returns a record that stands for the rest of a corrupt batch. So the caller can report it, and the partition
   * continues.
   */
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
