import type { KafkaRecord, RecordHeaders } from '../record.js';

/** Reads zigzag varints of a record; the caller checks the end. */
export class VarintReader {
  readonly data: Buffer;
  at: number;

  constructor(data: Buffer, at: number) {
    this.data = data;
    this.at = at;
  }

  next(): number {
    const { data } = this;
    let byte = data[this.at++] ?? 0;
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
    let value = byte & 0x7f;
    // Multiplication instead of shifts: a varlong (timestamps) needs more than 32 bits. Ten bytes at most.
    for (let factor = 0x80; byte >= 0x80 && factor < 2 ** 70; factor *= 0x80) {
      byte = data[this.at++] ?? 0;
      value += (byte & 0x7f) * factor;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Length-prefixed bytes as a view; a length of -1 is null. Throws when they reach beyond `end`. */
  bytes(end: number): Buffer | null {
    const length = this.skip(end);
    return length < 0 ? null : this.data.subarray(this.at - length, this.at);
  }

  /** Passes over length-prefixed bytes; gives their length. */
  skip(end: number): number {
    const length = this.next();
    if (length > 0) this.at += length;
    if (length < -1 || this.at > end) throw new Error('a length points outside its record');
    return length;
  }
}

export type RecordPlace = Pick<KafkaRecord, 'topic' | 'partition' | 'offset' | 'timestamp'>;

const NONE: RecordHeaders = Object.freeze(Object.create(null) as RecordHeaders);
const EMPTY = Buffer.alloc(0);

/** What a record may keep alive beyond itself: blocks up to this, or this many times its own bytes. */
const SMALL_BLOCK_BYTES = 16 * 1024;
const WASTE_FACTOR = 4;

/**
 * For a record that will be held: a few KiB of a block of up to 64 MiB (unpacked) must not keep all of it in memory. One
 * copy of the record's bytes then; none when the block is small or mostly this record.
 */
export function ownRecord(record: KafkaRecord): KafkaRecord {
  return record instanceof FetchedRecord ? record.owned() : record;
}

/** For a record that is held for long: whatever it is a part of, only its own bytes stay in memory. */
export function detachedRecord(record: KafkaRecord): KafkaRecord {
  return record instanceof FetchedRecord ? record.detached() : record;
}

/** The bytes, copied when they are a small part of what they are a view of. */
export function ownBytes(bytes: Buffer): Buffer {
  return isWasteful(bytes, bytes.length) ? Buffer.from(bytes) : bytes;
}

function isWasteful(block: Buffer, usedBytes: number): boolean {
  const heldBytes = block.buffer.byteLength;
  // What is cut from Node's slab is a copy already, whatever size the slabs of this process have.
  const smallBytes = Math.max(SMALL_BLOCK_BYTES, Buffer.poolSize);
  return heldBytes > smallBytes && heldBytes > usedBytes * WASTE_FACTOR;
}

/** Key and headers are decoded when they are asked for: most readers of most records never do. */
export class FetchedRecord implements KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly value: Buffer | null;
  readonly size: number;
  readonly #data: Buffer;
  readonly #bodyAt: number;
  readonly #headersAt: number;
  readonly #end: number;

  /** Throws when a length points outside the record, that is: between `reader.at` and `end`. */
  constructor(place: RecordPlace, reader: VarintReader, end: number) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.offset = place.offset;
    this.timestamp = place.timestamp;
    this.size = end - reader.at;
    this.#bodyAt = reader.at;
    reader.skip(end); // the key
    this.value = reader.bytes(end);
    this.#data = reader.data;
    this.#headersAt = reader.at;
    this.#end = end;
  }

  get key(): Buffer | null {
    return new VarintReader(this.#data, this.#bodyAt).bytes(this.#end);
  }

  /** This record, or its copy when it would keep a much larger block in memory. */
  owned(): FetchedRecord {
    return isWasteful(this.#data, this.size) ? this.#copied(Buffer.allocUnsafe(this.size)) : this;
  }

  /** The same record with bytes of its own: a view would keep the whole fetched block in memory, or Node's slab. */
  detached(): FetchedRecord {
    return this.#copied(Buffer.allocUnsafeSlow(this.size));
  }

  #copied(copy: Buffer): FetchedRecord {
    this.#data.copy(copy, 0, this.#bodyAt, this.#end);
    return new FetchedRecord(this, new VarintReader(copy, 0), copy.length);
  }

  /**
   * Decoded anew each time, and not kept: a record that has waited for long is in the collector's old generation, and what
   * it refers to would be moved there as well.
   */
  get headers(): RecordHeaders {
    if (this.#data[this.#headersAt] === 0) return NONE;
    const headers = Object.create(null) as Record<string, Buffer>;
    this.#readHeaders((reader) => {
      const name = reader.bytes(this.#end)?.toString() ?? '';
      headers[name] = reader.bytes(this.#end) ?? EMPTY;
    });
    return headers;
  }

  /** The one header of this name, as in `headers`, without decoding the others. */
  header(name: string): Buffer | undefined {
    let found: Buffer | undefined;
    this.#readHeaders((reader) => {
      const length = reader.skip(this.#end);
      const isWanted =
        length === name.length && reader.data.toString('latin1', reader.at - length, reader.at) === name;
      if (isWanted) found = reader.bytes(this.#end) ?? EMPTY;
      else reader.skip(this.#end);
    });
    return found;
  }

  /** The value is intact whatever its headers are: its reader decides. */
  #readHeaders(read: (reader: VarintReader) => void): void {
    const reader = new VarintReader(this.#data, this.#headersAt);
    try {
      for (let left = reader.next(); left > 0; left -= 1) read(reader);
    } catch {
      // Those before the damage count.
    }
  }
}

/** Bytes of one header of a record, or undefined; of a repeated header the last one counts. `name` is ASCII and not empty. */
export function headerOf(record: KafkaRecord, name: string): Buffer | undefined {
  return record instanceof FetchedRecord ? record.header(name) : record.headers[name];
}
