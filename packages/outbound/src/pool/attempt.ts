import type { Connection, Exchange, ResponseEnd, ResponseHead } from './connection.js';
import { ThrottledError } from '../guard/handshake-budget.js';
import { isLocalFault, SendFailure, toFailedResult } from '../send-failure.js';
import type { SendRequest, SendResult } from './exchange.js';

/** Longest header value that a result returns, in characters. */
const HEADER_LIMIT = 64;

const isShort = (text: string | undefined): text is string =>
  text !== undefined && text.length <= HEADER_LIMIT;

/** Provides an attempt with connections. */
export interface AttemptPool {
  /** Whether the tenant's handshakes are paused for their CPU time. */
  readonly isPaused: boolean;
  startAgain(attempt: Attempt): void;
  release(attempt: Attempt): void;
}

/** One POST. It waits for a connection and ends exactly once: with its response, an error, or the deadline. */
export class Attempt implements Exchange {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly keptHeader: string | undefined;
  readonly startedAt = performance.now();
  readonly #pool: AttemptPool;
  readonly #mayStart: (() => boolean) | undefined;
  readonly #ended = Promise.withResolvers<SendResult>();
  /** Settles with the result. Rejects only for a fault of this machine or of the request. */
  readonly ended = this.#ended.promise;
  readonly #timer: NodeJS.Timeout;
  /** Undefined while the attempt waits for a connection. */
  connection: Connection | undefined = undefined;
  /** Whether the response ended and the connection stayed open. */
  reusable = false;
  #isFresh = false;
  /** Why an earlier connection ended before the first byte of the response. */
  #silentEnd: Error | undefined = undefined;
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

  /** Whether the attempt needs a connection that has carried no request yet. */
  get needsFresh(): boolean {
    return this.#silentEnd !== undefined;
  }

  /**
   * Posts on a connection. Returns false when the attempt does not use it. `isFresh`: this is the connection's first
   * attempt.
   */
  run(connection: Connection, isFresh: boolean): boolean {
    if (this.#mayStart?.() === false) {
      this.#withdraw();
      return false;
    }
    this.connection = connection;
    this.#isFresh = isFresh;
    connection.post(this);
    return true;
  }

  /**
   * Ends the attempt without posting. If it was already posted to an earlier connection, it fails as that connection
   * did.
   */
  #withdraw(): void {
    if (this.#silentEnd !== undefined) this.fail(this.#silentEnd);
    else this.#ended.resolve({ kind: 'withdrawn', durationMs: this.#finish() });
  }

  onResponse({ status, retryAfter, kept }: ResponseHead, { cut, reusable }: ResponseEnd): void {
    if (this.#isOver) return;
    this.reusable = reusable;
    const response = { kind: 'responded', status, cut, durationMs: this.#finish() } as const;
    this.#ended.resolve({
      ...response,
      ...(isShort(retryAfter) ? { retryAfter } : {}),
      ...(isShort(kept) ? { kept } : {}),
    });
  }

  /**
   * An endpoint may close an idle connection at any time. Then the attempt is posted once more, on a fresh
   * connection (RFC 9112 §9.3.1).
   */
  onSilentEnd(error: Error): void {
    if (this.#isOver) return;
    if (this.#isFresh) return this.fail(error);
    this.connection = undefined;
    this.#silentEnd = error;
    this.#pool.startAgain(this);
  }

  /** Ends the attempt. A fault of this machine or of the request rejects; any other error is the endpoint's failure. */
  fail(error: Error): void {
    if (this.#isOver) return;
    // The attempt was already posted to a connection, so it fails as that connection did.
    if (error instanceof ThrottledError && this.#silentEnd !== undefined) return this.fail(this.#silentEnd);
    const durationMs = this.#finish();
    if (error instanceof ThrottledError) this.#ended.resolve({ kind: 'throttled', durationMs });
    else if (isLocalFault(error)) this.#ended.reject(error);
    else this.#ended.resolve(toFailedResult(error, durationMs));
  }

  /** Ends the attempt and its connection at the deadline. */
  #expire(): void {
    const isThrottled = this.connection === undefined && this.#pool.isPaused;
    const failure = isThrottled ? new ThrottledError() : new SendFailure('TIMEOUT', 'DEADLINE');
    this.connection?.fail(failure);
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
