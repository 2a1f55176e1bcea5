const TWO_32 = 2 ** 32;

/**
 * Reads bytes front to back: fields of the non-flexible protocol versions, and the varints of records. An int64
 * becomes a number, which is exact up to 2^53; offsets and milliseconds are smaller.
 */
export class ByteReader {
  readonly data: Buffer;
  at: number;

  constructor(data: Buffer, at = 0) {
    this.data = data;
    this.at = at;
  }

  int8(): number {
    this.at += 1;
    return this.data.readInt8(this.at - 1);
  }

  int16(): number {
    this.at += 2;
    return this.data.readInt16BE(this.at - 2);
  }

  int32(): number {
    this.at += 4;
    return this.data.readInt32BE(this.at - 4);
  }

  int64(): number {
    return this.int32() * TWO_32 + (this.int32() >>> 0);
  }

  /** Reads a text; empty for null. */
  string(): string {
    const length = Math.max(this.int16(), 0);
    this.at += length;
    return this.data.toString('utf8', this.at - length, this.at);
  }

  /**
   * Reads an int32 length and returns that many bytes as a view. For a negative length (null), returns an empty
   * buffer.
   */
  bytes(): Buffer {
    const length = Math.max(this.int32(), 0);
    this.at += length;
    return this.data.subarray(this.at - length, this.at);
  }

  array<T>(element: () => T): T[] {
    const length = this.int32();
    const elements: T[] = [];
    for (let index = 0; index < length; index += 1) elements.push(element());
    return elements;
  }

  /** Reads a zigzag varint or varlong. The caller must check that it ends within the data. */
  varint(): number {
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

  /**
   * Reads a varint length and returns that many bytes as a view; null for a length of -1. Throws when they reach
   * beyond the data.
   */
  content(): Buffer | null {
    const length = this.skipContent();
    return length < 0 ? null : this.data.subarray(this.at - length, this.at);
  }

  /** Reads a varint length and skips that many bytes. Returns the length. */
  skipContent(): number {
    const length = this.varint();
    if (length > 0) this.at += length;
    if (length < -1 || this.at > this.data.length) throw new Error('a length points outside its record');
    return length;
  }
}

/** Writes into a buffer of fixed size, front to back. */
export class ByteWriter {
  readonly buffer: Buffer;
  at = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  int8(value: number): this {
    this.at = this.buffer.writeInt8(value, this.at);
    return this;
  }

  int16(value: number): this {
    this.at = this.buffer.writeInt16BE(value, this.at);
    return this;
  }

  int32(value: number): this {
    this.at = this.buffer.writeInt32BE(value, this.at);
    return this;
  }

  int64(value: number): this {
    return this.int32(Math.floor(value / TWO_32)).int32(value | 0);
  }

  string(value: string): this {
    return this.int16(Buffer.byteLength(value)).bytes(value);
  }

  /** Writes bytes, or a text as UTF-8, without a length. */
  bytes(value: Buffer | string): this {
    this.at +=
      typeof value === 'string' ? this.buffer.write(value, this.at) : value.copy(this.buffer, this.at);
    return this;
  }

  /** Writes a zigzag varint or varlong; largest value 2^52. */
  varint(value: number): this {
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    while (rest > 0x7f) {
      this.buffer[this.at++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.at++] = rest;
    return this;
  }
}

/** Bytes of a value as a zigzag varint. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value < 0 ? -2 * value - 1 : 2 * value; rest > 0x7f; rest = Math.floor(rest / 0x80))
    size += 1;
  return size;
}
