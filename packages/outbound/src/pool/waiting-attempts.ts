import type { Attempt } from '../attempt.js';
import type { SendFailure } from '../send-failure.js';

/** The attempts of one origin that wait for a connection, the longest first. */
export class WaitingAttempts {
  #waiting: Attempt[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** Whether the first of them takes no used connection. */
  get needsFresh(): boolean {
    return this.#waiting[0]?.needsFresh === true;
  }

  /** Since when the first of them is under way, `performance.now()`. */
  get firstSince(): number {
    return this.#waiting[0]?.startedAt ?? Infinity;
  }

  /** Who waits longest for a connection like this one, and does no more. */
  take(isFresh: boolean): Attempt | undefined {
    const at = this.#waiting.findIndex(({ needsFresh }) => isFresh || !needsFresh);
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  /** Behind the others, or `first`. */
  add(attempt: Attempt, first = false): void {
    if (first) this.#waiting.unshift(attempt);
    else this.#waiting.push(attempt);
  }

  /** Whether it waited: it does no more. */
  remove(attempt: Attempt): boolean {
    const at = this.#waiting.indexOf(attempt);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** The failure of whoever waits longest, and of those others that began at `since` (`performance.now()`) or before. */
  fail(failure: SendFailure, since: number): void {
    const [longest] = this.#waiting;
    const failed = this.#waiting.filter((attempt) => attempt === longest || attempt.startedAt <= since);
    this.#waiting = this.#waiting.filter((attempt) => !failed.includes(attempt));
    for (const attempt of failed) attempt.fail(failure);
  }
}
