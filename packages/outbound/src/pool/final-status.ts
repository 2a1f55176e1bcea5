import type { Socket } from 'node:net';
import { SendFailure } from '../send-failure.js';

const START = 'HTTP/1.';
/**
 * Status lines (RFC 9112 §4) up to the status. An upgrade (101) matches neither expression, because none was
 * requested.
 */
const FINAL = /^HTTP\/1\.\d ([2-9]\d\d)(?!\d)/;
const INTERIM = /^HTTP\/1\.\d 1(?!01)\d\d(?!\d)/;
/** Bytes of a status line up to its status. */
const STATUS_LINE_BYTES = 13;
/** The end of a head. A recipient may accept a line feed alone as a line terminator (RFC 9112 §2.2). */
const HEAD_END = /\n\r?\n/;
/**
 * Most lines of head and body together. Each header and each chunk costs a microsecond or two, and 64 KiB can
 * contain 20,000 of them.
 */
const LINE_LIMIT = 256;
/**
 * Most bytes of one response. undici bounds head and body; the rest is interim responses, and what chunks and status
 * lines carry besides.
 */
const BYTE_LIMIT = 131_072;
const LINE_FEED = 10;

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Filters the bytes of a response before undici reads them. It drops interim responses (RFC 9110 §15.2) and stores
 * the final status, even if the rest of the head is invalid. A response that is too long ends its connection.
 */
export class FinalStatus {
  /** The incomplete beginning of a status line, or the last bytes of an interim head. */
  #held = NOTHING;
  #isSkipping = false;
  #bytes = 0;
  #lines = 0;
  #isOver = true;
  /** The beginning of the final response. */
  #line = '';

  /** No other code may read from the socket. `onRead` is called at each read. */
  constructor(socket: Socket, onRead: () => void) {
    const read = socket.read.bind(socket) as () => Buffer | null;
    socket.read = () => {
      onRead();
      for (;;) {
        if (this.#isTooLong) socket.destroy(new SendFailure('PROTOCOL', 'TOO_LONG'));
        const chunk = socket.destroyed ? null : read();
        if (chunk === null) return null;
        const counted = this.#count(chunk);
        const passed = this.#isOver ? counted : this.#filter(counted);
        if (passed !== undefined) return passed;
      }
    };
  }

  /** Resets the filter for the next response. */
  expect(): void {
    this.#held = NOTHING;
    this.#isSkipping = false;
    this.#bytes = 0;
    this.#lines = 0;
    this.#isOver = false;
    this.#line = '';
  }

  /** The final status; undefined until it arrived. Parsed on each access, because accesses are rare. */
  get status(): number | undefined {
    const status = FINAL.exec(this.#line)?.[1];
    return status === undefined ? undefined : Number(status);
  }

  /** Whether a byte of the response has arrived. */
  get hasBegun(): boolean {
    return this.#bytes > 0;
  }

  get #isTooLong(): boolean {
    return this.#lines > LINE_LIMIT || this.#bytes > BYTE_LIMIT;
  }

  /** Returns the bytes to pass to undici; undefined when there are none yet. */
  #filter(chunk: Buffer): Buffer | undefined {
    let bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = NOTHING;
    while (this.#isSkipping || !this.#isFinal(bytes)) {
      if (!this.#isSkipping) return undefined;
      const end = HEAD_END.exec(bytes.toString('latin1'));
      if (end === null) {
        this.#held = bytes.subarray(-2);
        return undefined;
      }
      this.#isSkipping = false;
      bytes = bytes.subarray(end.index + end[0].length);
    }
    return bytes;
  }

  /**
   * Whether a final response, or bytes that are no response, begin here. Otherwise an interim response begins, which
   * is skipped, or the bytes are incomplete and stored.
   */
  #isFinal(bytes: Buffer): boolean {
    const line = bytes.toString('latin1', 0, STATUS_LINE_BYTES);
    if (line.length < STATUS_LINE_BYTES && START.startsWith(line.slice(0, START.length))) this.#held = bytes;
    else if (INTERIM.test(line)) this.#isSkipping = true;
    else {
      this.#isOver = true;
      this.#line = line;
    }
    return this.#isOver;
  }

  /** Counts bytes and lines. Returns what comes before the line that is one too many: a head there is still read. */
  #count(bytes: Buffer): Buffer {
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; at += 1)
      if (bytes[at] === LINE_FEED && (this.#lines += 1) > LINE_LIMIT) return bytes.subarray(0, at);
    return bytes;
  }
}
