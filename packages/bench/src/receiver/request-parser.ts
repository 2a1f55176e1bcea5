/** What the receiver has to know of a request. */
export interface SeenRequest {
  readonly path: string;
  /** `webhook-id`, or the empty string. */
  readonly id: string;
  /** First byte, monotonic microseconds. */
  readonly firstByteAt: number;
}

/** Longer heads and bodies than any event can make are no request of ours. */
const MAX_HEAD_BYTES = 65_536;
const MAX_BODY_BYTES = 4 * 1_048_576;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const WEBHOOK_ID = /\r\nwebhook-id: *([^\r]+)/i;
const EMPTY = Buffer.alloc(0);

interface Head {
  readonly path: string;
  readonly id: string;
  /** Bytes of head and body. */
  readonly totalBytes: number;
}

function readHead(bytes: Buffer, headEnd: number): Head {
  const text = bytes.toString('latin1', 0, headEnd);
  const method = text.indexOf(' ');
  const path = text.slice(method + 1, text.indexOf(' ', method + 1));
  const length = Number(CONTENT_LENGTH.exec(text)?.[1] ?? NaN);
  if (!text.startsWith('POST ') || !(length <= MAX_BODY_BYTES))
    throw new Error('expected a POST with a content-length');
  return {
    path,
    id: WEBHOOK_ID.exec(text)?.[1] ?? '',
    totalBytes: headEnd + END_OF_HEAD.byteLength + length,
  };
}

/**
 * Finds the requests of one connection: as much of HTTP/1.1 as our senders speak, because the receiver shares two cores
 * with what is measured and node:http would take several times as long. Throws for anything else.
 */
export class RequestParser {
  #bytes: Buffer = EMPTY;
  #firstByteAt = 0;

  /** Gives each request that is complete with this chunk; `now` is when the chunk came. */
  push(chunk: Buffer, now: number, onRequest: (request: SeenRequest) => void): void {
    if (this.#bytes.byteLength === 0) this.#firstByteAt = now;
    this.#bytes = this.#bytes.byteLength === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    for (let request = this.#take(); request; request = this.#take()) {
      onRequest({ ...request, firstByteAt: this.#firstByteAt });
      this.#firstByteAt = now;
    }
  }

  #take(): Head | undefined {
    const headEnd = this.#bytes.indexOf(END_OF_HEAD);
    if (headEnd < 0) {
      if (this.#bytes.byteLength > MAX_HEAD_BYTES) throw new Error('the head of a request has no end');
      return undefined;
    }
    const head = readHead(this.#bytes, headEnd);
    if (this.#bytes.byteLength < head.totalBytes) return undefined;
    this.#bytes = this.#bytes.byteLength === head.totalBytes ? EMPTY : this.#bytes.subarray(head.totalBytes);
    return head;
  }
}
