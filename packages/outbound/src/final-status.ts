import type { Socket } from 'node:net';
import { SendFailure } from './send-failure.js';

const START = 'HTTP/1.';
/** RFC 9112 §4, as far as the status. */
const STATUS_LINE = /^HTTP\/1\.\d (\d{3})(?!\d)/;
/** Bytes that tell whether a status line begins, and its status. */
const STATUS_LINE_BYTES = 13;
/** RFC 9112 §2.2: a recipient may take a line feed alone for the end of a line. */
const HEAD_END = /\n\r?\n/;
/** More interim responses than this before the final one are taken as an attack. */
const INTERIM_LIMIT = 16;

const NOTHING: Buffer = Buffer.alloc(0);

/** Of no upgrade: nobody asked for one. */
const isInterim = (status: number): boolean => status >= 100 && status < 200 && status !== 101;

/** The status of a response that begins with these bytes; undefined while it needs more, 0 for what is no response. */
function statusOf(bytes: Buffer): number | undefined {
  const line = bytes.toString('latin1', 0, STATUS_LINE_BYTES);
  if (line.length < STATUS_LINE_BYTES && START.startsWith(line.slice(0, START.length))) return undefined;
  return Number(STATUS_LINE.exec(line)?.[1] ?? 0);
}

/**
 * Looks at the bytes of a response before undici takes them: interim responses, which a client must be able to skip (RFC 9110 §15.2),
 * are dropped, and the status of the final one is remembered whatever undici thinks of the rest of its head. The bytes stay as they are.
 */
export class FinalStatus {
  readonly #socket: Socket;
  readonly #headerLimitBytes: number;
  #held = NOTHING;
  #interim = 0;
  #isOver = true;
  #status: number | undefined;

  /** Nobody else may read from the socket. */
  constructor(socket: Socket, headerLimitBytes: number) {
    this.#socket = socket;
    this.#headerLimitBytes = headerLimitBytes;
    const read = socket.read.bind(socket) as () => Buffer | null;
    socket.read = () => {
      let chunk = read();
      while (chunk !== null && !this.#isOver) {
        const passed = this.#passOn(this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk);
        if (passed !== undefined) return passed;
        chunk = read();
      }
      return chunk;
    };
  }

  /** A response is expected from now on. */
  expect(): void {
    this.#held = NOTHING;
    this.#interim = 0;
    this.#isOver = false;
    this.#status = undefined;
  }

  /** Undefined until it came. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Whether anything came that is not passed on, or is no response to its end. */
  get hasBegun(): boolean {
    return this.#interim > 0 || this.#held.length > 0;
  }

  /** What undici may have of these bytes; undefined while that is nothing. */
  #passOn(bytes: Buffer): Buffer | undefined {
    const status = statusOf(bytes);
    if (status === undefined) return this.#hold(bytes);
    if (!isInterim(status)) {
      this.#isOver = true;
      this.#status = status >= 200 ? status : undefined;
      return bytes;
    }
    const end = HEAD_END.exec(bytes.toString('latin1', 0, this.#headerLimitBytes));
    if (end === null) return this.#hold(bytes);
    this.#interim += 1;
    if (this.#interim > INTERIM_LIMIT)
      this.#socket.destroy(new SendFailure('PROTOCOL', 'TOO_MANY_INFORMATIONAL'));
    return this.#passOn(bytes.subarray(end.index + end[0].length));
  }

  #hold(bytes: Buffer): Buffer | undefined {
    this.#held = bytes;
    // Then it is for undici to say so.
    this.#isOver = bytes.length >= this.#headerLimitBytes;
    return this.#isOver ? bytes : undefined;
  }
}
