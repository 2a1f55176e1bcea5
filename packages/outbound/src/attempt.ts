import type { Connection, Exchange, ResponseEnd, ResponseHead } from './connection.js';
import { ThrottledError } from './handshake-budget.js';
import { isOurFault, SendFailure, toFailedResult } from './send-failure.js';
import type { SendRequest, SendResult } from './exchange.js';

/** Characters of a header that is kept. */
const HEADER_LIMIT = 64;

const isShort = (text: string | undefined): text is string =>
  text !== undefined && text.length <= HEADER_LIMIT;

/** Whoever gives the attempt its connections. */
export interface AttemptPool {
  /** Whether its handshakes rest for what they cost us in CPU time. */
  readonly isResting: boolean;
  startAgain(attempt: Attempt): void;
  release(attempt: Attempt): void;
}

/** One POST: waits for a connection, is its exchange, and ends exactly once: by its response, an error, or the deadline. */
export class Attempt implements Exchange {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly keptHeader: string | undefined;
  readonly startedAt = performance.now();
  readonly #pool: AttemptPool;
  readonly #mayStart: (() => boolean) | undefined;
  readonly #ended = Promise.withResolvers<SendResult>();
  readonly #timer: NodeJS.Timeout;
  #connection: Connection | undefined = undefined;
  #isFresh = false;
  /** Why the connection before ended, without a byte of the response. */
  #silentEnd: Error | undefined = undefined;
  #reusable = false;
  #isOver = false;

  constructor(
    pool: AttemptPool,
    { target, headers, body, keptHeader, mayStart, timeoutMs }: SendRequest,
    defaultTimeoutMs: number,
  ) {
    this.#pool = pool;
    this.#mayStart = mayStart;
    this.path = target.path;
    this.headers = headers;
    this.body = body;
    this.keptHeader = keptHeader;
    this.#timer = setTimeout(() => this.#expire(), timeoutMs ?? defaultTimeoutMs);
  }

  /** Rejects for a shortage of our own only. */
  get ended(): Promise<SendResult> {
    return this.#ended.promise;
  }

  /** The connection it was given; undefined while it waits for one. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** Only a connection that carried nothing yet will do. */
  get needsFresh(): boolean {
    return this.#silentEnd !== undefined;
  }

  /** Whether its response came to its end, and the connection stays open after it. */
  get reusable(): boolean {
    return this.#reusable;
  }

  /** False: it does not use the connection. `isFresh`: it is the first attempt on it, whose handshake ended just now. */
  run(connection: Connection, isFresh: boolean): boolean {
    if (this.#mayStart?.() === false) {
      this.#withdraw();
      return false;
    }
    this.#connection = connection;
    this.#isFresh = isFresh;
    connection.post(this);
    return true;
  }

  /** Once it was posted to a connection that ended, that end is what it came to. */
  #withdraw(): void {
    if (this.#silentEnd !== undefined) this.fail(this.#silentEnd);
    else this.#ended.resolve({ kind: 'withdrawn', durationMs: this.#finish() });
  }

  onResponse({ status, retryAfter, kept }: ResponseHead, { cut, reusable }: ResponseEnd): void {
    if (this.#isOver) return;
    this.#reusable = reusable;
    const response = { kind: 'responded', status, cut, durationMs: this.#finish() } as const;
    this.#ended.resolve({
      ...response,
      ...(isShort(retryAfter) ? { retryAfter } : {}),
      ...(isShort(kept) ? { kept } : {}),
    });
  }

  /** An endpoint may end an idle connection at any time: then, and once, a fresh one is tried (RFC 9112 §9.3.1). */
  onSilentEnd(error: Error): void {
    if (this.#isOver) return;
    if (this.#isFresh) return this.fail(error);
    this.#connection = undefined;
    this.#silentEnd = error;
    this.#pool.startAgain(this);
  }

  /** A shortage of our own rejects; everything else is the endpoint's failure. */
  fail(error: Error): void {
    if (this.#isOver) return;
    // Once it was posted to a connection that ended, that end is what it came to.
    if (error instanceof ThrottledError && this.#silentEnd !== undefined) return this.fail(this.#silentEnd);
    const durationMs = this.#finish();
    if (error instanceof ThrottledError) this.#ended.resolve({ kind: 'throttled', durationMs });
    else if (isOurFault(error)) this.#ended.reject(error);
    else this.#ended.resolve(toFailedResult(error, durationMs));
  }

  /** The deadline has come: whatever is still going on is over, on the wire too. */
  #expire(): void {
    const isThrottled = this.#connection === undefined && this.#pool.isResting;
    const failure = isThrottled ? new ThrottledError() : new SendFailure('TIMEOUT', 'DEADLINE');
    this.#connection?.fail(failure);
    this.fail(failure);
  }

  #finish(): number {
    const durationMs = performance.now() - this.startedAt;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#pool.release(this);
    return durationMs;
  }
}
