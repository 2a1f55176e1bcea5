import { NAME_CHARACTER, VALUE_CHARACTER } from './field-syntax.js';
import { SendFailure } from './send-failure.js';

const LF = 0x0a;
const CRLF_BYTES = 2;
/** Up to 4 GiB, far above what is read of any body; what stands behind the size is passed over. */
const SIZE_LINE = new RegExp(`^([0-9a-f]{1,8})[ \\t]*(?:;${VALUE_CHARACTER}*)?\\r\\n$`, 'i');
const TRAILER_LINE = new RegExp(`^${NAME_CHARACTER}+:${VALUE_CHARACTER}*\\r\\n$`);
const EMPTY_LINE = '\r\n';
const MAX_LINE_BYTES = 16_384;

/** Finds the end of one chunked body (RFC 9112 §7.1). Who reads bounds how much of it there may be. */
export class ChunkedBody {
  over = false;
  /** Bytes of all chunks so far. */
  dataBytes = 0;
  /** Bytes of sizes, extensions, line ends and trailers so far. */
  framingBytes = 0;
  /** Of the present chunk, with the line end behind it. */
  #left = 0;
  #inTrailers = false;
  /** The beginning of a line whose end has not come. */
  #line = '';

  /** Reads on from there; the index behind what belongs to the body. Throws a `SendFailure` for what is no chunk. */
  read(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !this.over) {
      at = this.#left > CRLF_BYTES ? this.#readData(bytes, at) : this.#readLine(bytes, at);
    }
    return at;
  }

  #readData(bytes: Buffer, at: number): number {
    const count = Math.min(this.#left - CRLF_BYTES, bytes.length - at);
    this.#left -= count;
    this.dataBytes += count;
    return at + count;
  }

  #readLine(bytes: Buffer, at: number): number {
    const lineFeed = bytes.indexOf(LF, at);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    this.framingBytes += end - at;
    this.#line += bytes.toString('latin1', at, end);
    if (this.#line.length > MAX_LINE_BYTES) throw new SendFailure('PROTOCOL', 'BAD_CHUNK');
    if (lineFeed >= 0) this.#takeLine(this.#line);
    return end;
  }

  #takeLine(line: string): void {
    this.#line = '';
    if (this.#left > 0) this.#endChunk(line);
    else if (this.#inTrailers) this.#takeTrailer(line);
    else this.#beginChunk(line);
  }

  #beginChunk(line: string): void {
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) throw new SendFailure('PROTOCOL', 'BAD_CHUNK');
    const bytes = Number.parseInt(size, 16);
    this.#inTrailers = bytes === 0;
    this.#left = bytes === 0 ? 0 : bytes + CRLF_BYTES;
  }

  #endChunk(line: string): void {
    if (line !== EMPTY_LINE) throw new SendFailure('PROTOCOL', 'BAD_CHUNK');
    this.#left = 0;
  }

  #takeTrailer(line: string): void {
    this.over = line === EMPTY_LINE;
    if (!this.over && !TRAILER_LINE.test(line)) throw new SendFailure('PROTOCOL', 'BAD_CHUNK');
  }
}
