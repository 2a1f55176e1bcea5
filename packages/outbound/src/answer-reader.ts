import { parseAnswerHead } from './answer-head.js';
import type { AnswerHead } from './answer-head.js';
import { ChunkedBody } from './chunked-body.js';
import { SendFailure } from './send-failure.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const BEGINNING = Buffer.from('HTTP/1.');
const CR = 0x0d;
const LF = 0x0a;
/** More informational answers (1xx) than this before the final one are taken as an attack. */
const INFORMATIONAL_LIMIT = 16;
/** Longer ones are not kept to be compared with the next: there may be thousands of connections. */
const KEPT_HEAD_BYTES = 512;

/** Reads the answers of one connection as they come, one after the other, and keeps nothing of a body but its size. */
export class AnswerReader {
  /** Whether the end of the present answer has come. */
  whole = false;
  /** Whether bytes came behind it, which nobody asked for. */
  surplus = false;
  /** Of the body so far; when it comes in chunks, of their framing if that is more. */
  bodyBytes = 0;
  readonly #headLimit: number;
  #head: AnswerHead | undefined = undefined;
  #chunked: ChunkedBody | undefined = undefined;
  #informational = 0;
  #lastText = '';
  #lastHead: AnswerHead | undefined = undefined;
  /** A head that has not come whole yet; room for as much as may come. */
  #part: Buffer | undefined = undefined;
  #partBytes = 0;

  /** `headLimit`: bytes of one header block with the empty line that ends it. */
  constructor(headLimit: number) {
    this.#headLimit = headLimit;
  }

  /** The final answer's; undefined until it came whole. */
  get head(): AnswerHead | undefined {
    return this.#head;
  }

  /** Whether the end of the connection is the end of the answer. */
  get endsWithConnection(): boolean {
    return this.#head?.body === 'until-close';
  }

  /** What comes now answers the next request. */
  begin(): void {
    this.whole = false;
    this.surplus = false;
    this.bodyBytes = 0;
    this.#head = undefined;
    this.#chunked = undefined;
    this.#informational = 0;
  }

  /** Throws a `SendFailure` for what is no answer of HTTP/1, and for a head without end. */
  read(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.whole) {
      at = this.#head === undefined ? this.#readHead(bytes, at) : this.#readBody(this.#head, bytes, at);
    }
    if (at < bytes.length) this.surplus = true;
  }

  #readHead(bytes: Buffer, from: number): number {
    if (this.#part !== undefined) return this.#readOn(this.#part, bytes, from);
    const end = bytes.indexOf(END_OF_HEAD, from);
    if (end < 0 || end + END_OF_HEAD.length - from > this.#headLimit) {
      this.#part = Buffer.allocUnsafe(this.#headLimit);
      return this.#readOn(this.#part, bytes, from);
    }
    this.#take(bytes.toString('latin1', from, end));
    return end + END_OF_HEAD.length;
  }

  /** The end of a head may lie across two reads: as much as may come is put together, and searched once. */
  #readOn(part: Buffer, bytes: Buffer, from: number): number {
    const before = this.#partBytes;
    const length = before + bytes.copy(part, before, from);
    const end = part.subarray(0, length).indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length + 1));
    if (end < 0 && length === part.length) throw new SendFailure('PROTOCOL', 'HEADERS_TOO_LONG');
    this.#partBytes = length;
    if (end < 0) {
      refuseEarly(part.subarray(0, length), before);
      return bytes.length;
    }
    this.#part = undefined;
    this.#partBytes = 0;
    this.#take(part.toString('latin1', 0, end));
    return from + end + END_OF_HEAD.length - before;
  }

  #take(text: string): void {
    const head = this.#parse(text);
    if (head.status < 200) return this.#inform(head.status);
    this.#head = head;
    this.whole = head.body === 0;
    if (head.body === 'chunked') this.#chunked = new ChunkedBody();
  }

  /** A busy endpoint's heads are alike for as long as their `Date` is: for a second. */
  #parse(text: string): AnswerHead {
    if (text === this.#lastText && this.#lastHead !== undefined) return this.#lastHead;
    const head = parseAnswerHead(text);
    const isKept = text.length <= KEPT_HEAD_BYTES;
    this.#lastText = isKept ? text : '';
    this.#lastHead = isKept ? head : undefined;
    return head;
  }

  /** We ask for no other protocol; a `100 Continue` says nothing, asked for or not (RFC 9110 §15.2). */
  #inform(status: number): void {
    this.#informational += 1;
    if (status === 101) throw new SendFailure('PROTOCOL', 'UNASKED_UPGRADE');
    if (this.#informational > INFORMATIONAL_LIMIT)
      throw new SendFailure('PROTOCOL', 'TOO_MANY_INFORMATIONAL');
  }

  #readBody({ body }: AnswerHead, bytes: Buffer, from: number): number {
    if (this.#chunked !== undefined) return this.#readChunks(this.#chunked, bytes, from);
    const end =
      typeof body === 'number' ? Math.min(bytes.length, from + body - this.bodyBytes) : bytes.length;
    this.bodyBytes += end - from;
    this.whole = this.bodyBytes === body;
    return end;
  }

  #readChunks(chunked: ChunkedBody, bytes: Buffer, from: number): number {
    const end = chunked.read(bytes, from);
    this.bodyBytes = Math.max(chunked.dataBytes, chunked.framingBytes);
    this.whole = chunked.over;
    return end;
  }
}

/** An endpoint that speaks something else may never send what ends a head: it is not waited for. */
function refuseEarly(part: Buffer, from: number): void {
  const length = Math.min(part.length, BEGINNING.length);
  const isOther = part.compare(BEGINNING, 0, length, 0, length) !== 0;
  if (isOther || hasBareLineFeed(part, from)) throw new SendFailure('PROTOCOL', 'NOT_HTTP');
}

function hasBareLineFeed(part: Buffer, from: number): boolean {
  for (let at = part.indexOf(LF, from); at >= 0; at = part.indexOf(LF, at + 1)) {
    if (part[at - 1] !== CR) return true;
  }
  return false;
}
