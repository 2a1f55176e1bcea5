import type { Client, Dispatcher } from 'undici';
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
  readonly pool: OriginPool;
  /** Set by the pool once there is a connection for it. */
  client: Client | undefined = undefined;
  readonly #owner: AttemptOwner;
  readonly #startedAt: number;
  readonly #resolve: (result: SendResult) => void;
  readonly #reject: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined = undefined;
  #status = 0;
  #retryAfter: string | undefined = undefined;
  #bytes = 0;
  #informational = 0;
  #begun = false;
  #ended = false;

  constructor(owner: AttemptOwner, pool: OriginPool, settle: Settle, now: number) {
    this.#owner = owner;
    this.pool = pool;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    this.#startedAt = now;
    this.deadline = now + owner.attemptTimeoutMs;
  }

  /** Whether it got as far as a connection that stands. An error of undici says so, too: the client is done with it. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Throwing here drops the request without touching the connection, which is free for another one. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) throw new SendFailure('TIMEOUT', 'DEADLINE');
    this.#controller = controller;
    this.#begun = true;
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
    if (status === 429 || status === 503) this.#retryAfter = firstText(headers['retry-after']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#owner.answerLimitBytes) this.#breakOff('PROTOCOL', 'ANSWER_TOO_LONG');
  }

  onResponseEnd(): void {
    if (!this.#ended) this.#answered(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#begun = true;
    if (this.#ended) return;
    if (this.#status > 0) return this.#answered(true);
    if (isOurFault(error)) this.refuse(error);
    else this.#failed(error);
  }

  /** It could not even be started, by a mistake of the caller. */
  refuse(error: unknown): void {
    if (this.#ended) return;
    this.#finish();
    this.#reject(
      error instanceof Error ? error : new Error('the attempt could not be started', { cause: error }),
    );
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
    return now - this.#startedAt;
  }
}

function firstText(value: string | string[] | undefined): string | undefined {
  const text = typeof value === 'string' ? value : value?.[0];
  return text !== undefined && text.length <= RETRY_AFTER_LIMIT ? text : undefined;
}
