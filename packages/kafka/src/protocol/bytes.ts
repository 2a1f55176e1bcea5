const TWO_32 = 0x1_0000_0000;

/** An int64 as a number: exact up to 2^53, which offsets and milliseconds never reach. */
export function readInt64(buffer: Buffer, at: number): number {
  return buffer.readInt32BE(at) * TWO_32 + buffer.readUInt32BE(at + 4);
}

export function writeInt64(buffer: Buffer, value: number, at: number): number {
  const high = Math.floor(value / TWO_32);
  buffer.writeInt32BE(high, at);
  return buffer.writeUInt32BE(value - high * TWO_32, at + 4);
}

/** Walks a response of the non-flexible protocol versions: int8…int64, int16-length strings, int32-length bytes. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  int16(): number {
    this.#at += 2;
    return this.#buffer.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#buffer.readInt32BE(this.#at - 4);
  }

  int64(): number {
    this.#at += 8;
    return readInt64(this.#buffer, this.#at - 8);
  }

  string(): string {
    const length = this.int16();
    this.#at += length;
    return this.#buffer.toString('utf8', this.#at - length, this.#at);
  }

  /** A view, not a copy; a null or negative length gives an empty buffer. */
  bytes(): Buffer {
    const length = Math.max(this.int32(), 0);
    this.#at += length;
    return this.#buffer.subarray(this.#at - length, this.#at);
  }

  array<T>(element: (reader: this) => T): T[] {
    const length = this.int32();
    const elements: T[] = [];
    for (let index = 0; index < length; index += 1) elements.push(element(this));
    return elements;
  }
}

/** Fills a buffer of known size front to back. */
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

  uint32(value: number): this {
    this.at = this.buffer.writeUInt32BE(value, this.at);
    return this;
  }

  int64(value: number): this {
    this.at = writeInt64(this.buffer, value, this.at);
    return this;
  }

  string(value: string): this {
    return this.int16(Buffer.byteLength(value)).text(value);
  }

  /** UTF-8, without its length. */
  text(value: string): this {
    this.at += this.buffer.write(value, this.at);
    return this;
  }

  bytes(value: Buffer): this {
    this.at += value.copy(this.buffer, this.at);
    return this;
  }

  /** Zigzag varint or varlong, up to 2^52. */
  varint(value: number): this {
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    while (rest > 0x7f) {
      this.buffer[this.at] = (rest % 0x80) + 0x80;
      this.at += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.at] = rest;
    this.at += 1;
    return this;
  }
}

export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value < 0 ? -2 * value - 1 : 2 * value; rest > 0x7f; rest = Math.floor(rest / 0x80))
    size += 1;
  return size;
}
