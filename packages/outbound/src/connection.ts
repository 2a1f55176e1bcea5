import type { Socket } from 'node:net';
import { Node } from 'yallist';
import type { AnswerHead } from './answer-head.js';
import { AnswerReader } from './answer-reader.js';
import { EndOfTurn } from './end-of-turn.js';
import type { Idle } from './idle-connections.js';
import type { OpenSocket } from './inbox.js';
import { SendFailure } from './send-failure.js';
import { spareMs } from './spare-time.js';

export interface ConnectionLimits {
  /** An idle connection is closed after this time, default 4,000 ms, unless the endpoint names another one in `Keep-Alive`. */
  readonly keepAliveMs: number;
  /** What an endpoint's `Keep-Alive: timeout=` may ask for at most, default 15,000 ms; at least `keepAliveMs`. */
  readonly keepAliveMaxMs: number;
  /** Bytes of the answer's header block. */
  readonly headerLimitBytes: number;
  /** Bytes of the answer's body that are read (and thrown away) before the connection is broken off. */
  readonly answerLimitBytes: number;
}

/** How an answer ended whose status came. */
export interface AnswerEnd {
  /** Whether the rest of the body did not come, or was not waited for. */
  readonly cut: boolean;
  /** Whether the connection can carry a further request. */
  readonly reusable: boolean;
}

/** One request and whoever waits for its answer: exactly one of its functions is called, once. */
export interface Exchange {
  /** Request line and header fields with the empty line behind them. */
  readonly head: string;
  readonly body: Buffer;
  onAnswer(head: AnswerHead, end: AnswerEnd): void;
  /** No status came. */
  fail(error: Error): void;
  /** The connection had ended before anything was written: another one may take it. */
  onGone(): void;
}

/** From what an endpoint says it keeps a connection for, so that ours ends first. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/**
 * Turns of the event loop before a request is written: the present one may have asked what has come before it came, the next one
 * asks again. By then an endpoint that closes its connection after an answer, without having said so, has done so, too.
 */
const TURNS = 2;
const CUT: AnswerEnd = { cut: true, reusable: false };
const LAST: AnswerEnd = { cut: false, reusable: false };
const REUSABLE: AnswerEnd = { cut: false, reusable: true };

const ended = new EndOfTurn<Connection>((connection) => connection.turn());

/**
 * HTTP/1.1 over one TLS connection that stands: one exchange at a time, of whose answer nothing is kept but what its head
 * says. Ours and not undici's, because that makes a delivery a tenth to a fifth cheaper.
 */
export class Connection {
  /** Among those of its origin. */
  readonly place = new Node<Connection>(this);
  /** Among the idle ones of all origins. */
  idlePlace: Node<Idle> | undefined = undefined;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #onGone: (connection: Connection) => void;
  readonly #answer: AnswerReader;
  /** Written, and not answered yet. */
  #exchange: Exchange | undefined = undefined;
  /** To be written when so many turns have ended. */
  #next: Exchange | undefined = undefined;
  #turns = 0;
  #keepAliveMs: number;
  #idleUntil = 0;
  #idleTimer: NodeJS.Timeout | undefined = undefined;
  #gone = false;
  /** `spareMs()`: an answer that lies here unread is not waited for. */
  #writtenAt = 0;

  /** `onGone` is called once, when it can carry nothing more. */
  constructor(open: OpenSocket, limits: ConnectionLimits, onGone: (connection: Connection) => void) {
    const { socket, inbox } = open;
    this.#socket = socket;
    this.#limits = limits;
    this.#onGone = onGone;
    this.#answer = new AnswerReader(limits.headerLimitBytes);
    this.#keepAliveMs = limits.keepAliveMs;
    inbox.open(this.#read.bind(this), this.discard.bind(this));
    socket.once('end', () => this.#ended());
    socket.on('error', (error: Error) => this.#break(error));
    socket.once('close', () => this.#break(new SendFailure('SOCKET', 'CONNECTION_CLOSED')));
    this.#rest();
  }

  /**
   * Only when it carries no other one. Written when what has come by now is read: the end of a connection that was idle, so that
   * the exchange takes another one, and bytes that nobody asked for, which else would be its answer.
   */
  post(exchange: Exchange): void {
    this.#next = exchange;
    if (this.#turns === 0) this.#wait();
  }

  /** For how long an answer has been waited for; `spareNow` is `spareMs()`, in whose milliseconds the wait is told. */
  waitedMs(spareNow: number): number {
    return this.#exchange === undefined ? 0 : spareNow - this.#writtenAt;
  }

  /** A turn has ended. */
  turn(): void {
    this.#turns -= 1;
    if (this.#turns > 0) return ended.add(this);
    // The answer came early: whatever were written now would stand behind the rest of the request before.
    if (this.#socket.writableLength > 0) this.discard();
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.#write(next);
  }

  #wait(): void {
    this.#turns = TURNS;
    ended.add(this);
  }

  /** Ends it now, and what it carries with this failure, unless the status has come. */
  giveUp(failure: SendFailure): void {
    const next = this.#next;
    this.#next = undefined;
    this.#break(failure);
    next?.fail(failure);
  }

  /** Ends it now. */
  discard(): void {
    if (this.#gone) return;
    this.#gone = true;
    clearTimeout(this.#idleTimer);
    this.#socket.destroy();
    this.#onGone(this);
  }

  /** Ends it; resolves when its socket is closed. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.discard();
    if (!this.#socket.closed) await closed;
  }

  #write(exchange: Exchange): void {
    const socket = this.#socket;
    // A timer that is late has not looked at it yet: the endpoint is about to close it.
    const isOver = performance.now() >= this.#idleUntil;
    if (this.#gone || isOver || !socket.writable) {
      this.discard();
      return exchange.onGone();
    }
    this.#exchange = exchange;
    this.#writtenAt = spareMs();
    // Corked, so that both go out in one record of TLS, and the body without a copy of our own.
    socket.cork();
    socket.write(exchange.head, 'latin1');
    socket.write(exchange.body);
    socket.uncork();
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody asked for them: they must not be taken for the next answer.
    if (exchange === undefined) return this.discard();
    try {
      this.#answer.read(bytes);
    } catch (error) {
      return this.#break(toError(error));
    }
    const { bodyBytes, whole, head } = this.#answer;
    if (bodyBytes > this.#limits.answerLimitBytes)
      this.#break(new SendFailure('PROTOCOL', 'ANSWER_TOO_LONG'));
    else if (whole && head !== undefined) this.#answered(exchange, head);
  }

  #answered(exchange: Exchange, head: AnswerHead): void {
    this.#exchange = undefined;
    const reusable = head.persistent && !this.#answer.surplus && this.#keeps(head.keepAliveSeconds);
    if (reusable) {
      this.#answer.begin();
      this.#wait();
      this.#rest();
    }
    exchange.onAnswer(head, reusable ? REUSABLE : LAST);
  }

  /** The endpoint ended the connection. */
  #ended(): void {
    const { head, endsWithConnection } = this.#answer;
    const exchange = this.#exchange;
    if (exchange === undefined || head === undefined || !endsWithConnection)
      return this.#break(new SendFailure('SOCKET', 'OTHER_SIDE_CLOSED'));
    this.#exchange = undefined;
    this.discard();
    exchange.onAnswer(head, LAST);
  }

  /** What waits for the end of the turn stays: it takes another connection then. */
  #break(error: Error): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.discard();
    if (exchange === undefined) return;
    const { head } = this.#answer;
    if (head === undefined) exchange.fail(error);
    else exchange.onAnswer(head, CUT);
  }

  /** Whether it may be kept at all, by what the endpoint says; for how long is set. */
  #keeps(keepAliveSeconds: number | undefined): boolean {
    const keepAliveMs = keepAliveMsOf(keepAliveSeconds, this.#limits);
    if (keepAliveMs < this.#keepAliveMs) {
      clearTimeout(this.#idleTimer);
      this.#idleTimer = undefined;
    }
    this.#keepAliveMs = keepAliveMs;
    return keepAliveMs > 0;
  }

  /** One timer for the connection, which is set anew when it finds that the connection was used meanwhile. */
  #rest(): void {
    this.#idleUntil = performance.now() + this.#keepAliveMs;
    this.#idleTimer ??= this.#lookIn(this.#keepAliveMs);
  }

  #look(): void {
    this.#idleTimer = undefined;
    if (this.#exchange !== undefined || this.#next !== undefined) return;
    const leftMs = this.#idleUntil - performance.now();
    if (leftMs <= 0) this.discard();
    else this.#idleTimer = this.#lookIn(Math.ceil(leftMs));
  }

  #lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms).unref();
  }
}

function keepAliveMsOf(seconds: number | undefined, limits: ConnectionLimits): number {
  if (seconds === undefined) return limits.keepAliveMs;
  const maxMs = Math.max(limits.keepAliveMs, limits.keepAliveMaxMs);
  return Math.min(seconds * 1_000 - KEEP_ALIVE_MARGIN_MS, maxMs);
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
