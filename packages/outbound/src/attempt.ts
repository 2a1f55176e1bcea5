import type { Dispatcher } from 'undici';
import type { Node } from 'yallist';
import { ConnectionGone } from './connection.js';
import type { Connection } from './connection.js';
import type { Deadlined } from './deadline-queue.js';
import type { OriginPool } from './origin-pool.js';
import { isOurFault, SendFailure, toFailedResult } from './send-failure.js';
import type { SendResult } from './send-result.js';

/** More informational answers (1xx) than this before the final one are taken as an attack. */
const INFORMATIONAL_LIMIT = 16;
const RETRY_AFTER_LIMIT = 64;

interface Settle {
  readonly resolve: (result: SendResult) => void;
  readonly reject: (error: Error) => void;
}

/** What is posted; `SendRequest` without its origin. */
export interface AttemptRequest {
  readonly path: string;
  readonly headers: string[] | Record<string, string>;
  readonly body: Buffer;
}

/** Who started the attempt: gives the limits, and takes back what the attempt held. */
export interface AttemptOwner {
  readonly attemptTimeoutMs: number;
  readonly answerLimitBytes: number;
  release(attempt: Attempt, now: number): void;
}

/**
 * One POST as undici's dispatch handler: looks at the status, throws the body away, and ends exactly once —
 * by the end of the answer, its limit, an error, or the deadline.
 */
export class Attempt implements Dispatcher.DispatchHandler, Deadlined {
  readonly deadline: number;
  before: Deadlined | undefined = undefined;
  after: Deadlined | undefined = undefined;
  /** Among those of its origin that wait for a connection; undefined while it does not. */
  place: Node<Attempt> | undefined = undefined;
  readonly pool: OriginPool;
  readonly startedAt: number;
  readonly #owner: AttemptOwner;
  readonly #request: AttemptRequest;
  readonly #resolve: (result: SendResult) => void;
  readonly #reject: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined = undefined;
  #status = 0;
  #retryAfter: string | undefined = undefined;
  #bytes = 0;
  #closing = false;
  #informational = 0;
  #connection: Connection | undefined = undefined;
  #reusable = false;
  #ended = false;

  constructor(owner: AttemptOwner, pool: OriginPool, request: AttemptRequest, settle: Settle) {
    this.#owner = owner;
    this.pool = pool;
    this.#request = request;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    this.startedAt = performance.now();
    this.deadline = this.startedAt + owner.attemptTimeoutMs;
  }

  /** The connection it was given; undefined while it waits for one. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** Whether its answer came to its end, and the connection stays open after it. */
  get reusable(): boolean {
    return this.#reusable;
  }

  run(connection: Connection): void {
    this.#connection = connection;
    const { path, headers, body } = this.#request;
    connection.dispatch({ method: 'POST', path, headers, body }, this);
  }

  /** Throwing here drops the request without touching the connection, which is free for another one. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) throw new SendFailure('TIMEOUT', 'DEADLINE');
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > INFORMATIONAL_LIMIT) this.#breakOff('PROTOCOL', 'TOO_MANY_INFORMATIONAL');
      return;
    }
    this.#status = status;
    this.#closing = headers['connection'] === 'close';
    if (status === 429 || status === 503) this.#retryAfter = firstText(headers['retry-after']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#owner.answerLimitBytes) this.#breakOff('PROTOCOL', 'ANSWER_TOO_LONG');
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    this.#reusable = !this.#closing;
    this.#answered(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const connection = this.#connection;
    if (this.#ended || connection === undefined) return;
    if (error instanceof ConnectionGone) {
      this.#connection = undefined;
      return this.pool.startAgain(this, connection);
    }
    if (this.#status > 0) this.#answered(true);
    else this.fail(error);
  }

  /** A mistake of the caller or a shortage of our own rejects; everything else is the endpoint's failure. */
  fail(error: Error): void {
    if (this.#ended) return;
    if (!isOurFault(error)) return this.#failed(error);
    this.#finish();
    this.#reject(error);
  }

  /** The deadline has come: whatever is still going on is over, on the wire too. */
  expire(): void {
    this.#breakOff('TIMEOUT', 'DEADLINE');
  }

  #breakOff(errorClass: 'PROTOCOL' | 'TIMEOUT', code: string): void {
    if (this.#ended) return;
    const failure = new SendFailure(errorClass, code);
    if (this.#status > 0) this.#answered(true);
    else this.#failed(failure);
    this.#controller?.abort(failure);
  }

  #answered(cut: boolean): void {
    const answer = { kind: 'answered', status: this.#status, cut, durationMs: this.#finish() } as const;
    this.#resolve(this.#retryAfter === undefined ? answer : { ...answer, retryAfter: this.#retryAfter });
  }

  #failed(error: Error): void {
    this.#resolve(toFailedResult(error, this.#finish()));
  }

  #finish(): number {
    const now = performance.now();
    this.#ended = true;
    this.#owner.release(this, now);
    return now - this.startedAt;
  }
}

function firstText(value: string | string[] | undefined): string | undefined {
  const text = typeof value === 'string' ? value : value?.[0];
  return text !== undefined && text.length <= RETRY_AFTER_LIMIT ? text : undefined;
}
