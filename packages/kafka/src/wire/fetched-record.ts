import type { KafkaRecord, RecordHeaders, TopicPartition } from '../record.js';
import { ByteReader } from './bytes.js';

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
