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

/** Key and headers are decoded when they are read: most readers of most records never do. */
export class FetchedRecord implements KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly value: Buffer | null;
  readonly size: number;
  readonly #data: Buffer;
  readonly #headersAt: number;

  /** `body`: from the length of the key on. Throws when a length points outside it. */
  constructor(place: RecordPlace, body: Buffer) {
    const reader = new VarintReader(body, 0);
    const end = body.length;
    this.topic = place.topic;
    this.partition = place.partition;
    this.offset = place.offset;
    this.timestamp = place.timestamp;
    this.size = end;
    reader.skip(end); // the key
    this.value = reader.bytes(end);
    this.#data = body;
    this.#headersAt = reader.at;
  }

  get key(): Buffer | null {
    return new VarintReader(this.#data, 0).bytes(this.#data.length);
  }

  /**
   * Decoded anew each time, and not kept: a record that has waited for long is in the collector's old generation, and what
   * it refers to would be moved there as well.
   */
  get headers(): RecordHeaders {
    if (this.#data[this.#headersAt] === 0) return NONE;
    const headers = Object.create(null) as Record<string, Buffer>;
    this.#readHeaders((reader) => {
      const name = reader.bytes(this.#data.length)?.toString() ?? '';
      headers[name] = reader.bytes(this.#data.length) ?? EMPTY;
    });
    return headers;
  }

  /** The one header of this name, as in `headers`, without decoding the others. */
  header(name: string): Buffer | undefined {
    let found: Buffer | undefined;
    this.#readHeaders((reader) => {
      const length = reader.skip(this.#data.length);
      const isWanted =
        length === name.length && reader.data.toString('latin1', reader.at - length, reader.at) === name;
      if (isWanted) found = reader.bytes(this.#data.length) ?? EMPTY;
      else reader.skip(this.#data.length);
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
