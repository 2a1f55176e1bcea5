import type { Connection, Exchange, ResponseEnd, ResponseHead } from './connection.js';
import type { Deadlined } from './pool/deadline-queue.js';
import { isOurFault, SendFailure, toFailedResult } from './send-failure.js';
import type { SendResult } from './send-result.js';

const RETRY_AFTER_LIMIT = 64;

interface Settle {
  readonly resolve: (result: SendResult) => void;
  readonly reject: (error: Error) => void;
}

/** Whoever gives the attempt its connections. */
export interface AttemptPool {
  startAgain(attempt: Attempt): void;
  release(attempt: Attempt, now: number): void;
}

/** Who started the attempt: gives the limit, and takes back what the attempt held. */
export interface AttemptOwner {
  readonly attemptTimeoutMs: number;
  release(attempt: Attempt, now: number): void;
}

/** One POST: waits for a connection, is its exchange, and ends exactly once: by its response, an error, or the deadline. */
export class Attempt implements Exchange, Deadlined {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly deadline: number;
  /** Only a connection that carried nothing yet will do: the one before ended without a byte of the response. */
  needsFresh = false;
  readonly pool: AttemptPool;
  readonly startedAt: number;
  readonly #owner: AttemptOwner;
  readonly #settle: Settle;
  #connection: Connection | undefined = undefined;
  #isFresh = false;
  #reusable = false;
  #ended = false;

  constructor(
    owner: AttemptOwner,
    pool: AttemptPool,
    request: Pick<Exchange, 'path' | 'headers' | 'body'>,
    settle: Settle,
  ) {
    this.#owner = owner;
    this.pool = pool;
    this.path = request.path;
    this.headers = request.headers;
    this.body = request.body;
    this.#settle = settle;
    this.startedAt = performance.now();
    this.deadline = this.startedAt + owner.attemptTimeoutMs;
  }

  /** The connection it was given; undefined while it waits for one. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** Whether its response came to its end, and the connection stays open after it. */
  get reusable(): boolean {
    return this.#reusable;
  }

  /** `isFresh`: it is the first attempt on this connection, whose handshake ended just now. */
  run(connection: Connection, isFresh: boolean): void {
    this.#connection = connection;
    this.#isFresh = isFresh;
    connection.post(this);
  }

  onResponse({ status, retryAfter }: ResponseHead, { cut, reusable }: ResponseEnd): void {
    if (this.#ended) return;
    this.#reusable = reusable;
    const answer = { kind: 'answered', status, cut, durationMs: this.#finish() } as const;
    const isUsable = retryAfter !== undefined && retryAfter.length <= RETRY_AFTER_LIMIT;
    this.#settle.resolve(isUsable ? { ...answer, retryAfter } : answer);
  }

  /** An endpoint may end an idle connection at any time: then, and once, a fresh one is tried (RFC 9112 §9.3.1). */
  onSilentEnd(error: Error): void {
    if (this.#ended) return;
    if (this.#isFresh) return this.fail(error);
    this.#connection = undefined;
    this.needsFresh = true;
    this.pool.startAgain(this);
  }

  /** A shortage of our own rejects; everything else is the endpoint's failure. */
  fail(error: Error): void {
    if (this.#ended) return;
    const durationMs = this.#finish();
    if (isOurFault(error)) this.#settle.reject(error);
    else this.#settle.resolve(toFailedResult(error, durationMs));
  }

  /** The deadline has come: whatever is still going on is over, on the wire too. */
  expire(): void {
    const failure = new SendFailure('TIMEOUT', 'DEADLINE');
    this.#connection?.giveUp(failure);
    this.fail(failure);
  }

  #finish(): number {
    const now = performance.now();
    this.#ended = true;
    this.#owner.release(this, now);
    return now - this.startedAt;
  }
}
