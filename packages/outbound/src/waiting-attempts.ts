import { Node, Yallist } from 'yallist';
import type { Attempt } from './attempt.js';
import type { SendFailure } from './send-failure.js';
import { spareMs } from './spare-time.js';

/**
 * The attempts of one origin that wait for a connection, the longest first. A list: a Set would keep ended attempts until
 * the next full collection.
 */
export class WaitingAttempts {
  readonly #list = new Yallist<Attempt>();

  get size(): number {
    return this.#list.length;
  }

  /** For how long the one behind the first `ahead` of them has waited, in spare milliseconds; 0 when there is none. */
  spareMsBehind(ahead: number): number {
    const since = this.#list.get(ahead)?.waitsSince;
    return since === undefined ? 0 : spareMs() - since;
  }

  /** Who waits longest for a connection like this one, and does no more. */
  take(isFresh: boolean): Attempt | undefined {
    for (const attempt of this.#list) {
      if (attempt.needsFresh && !isFresh) continue;
      this.remove(attempt);
      return attempt;
    }
    return undefined;
  }

  /** Behind the others, or `first`. */
  add(attempt: Attempt, first = false): void {
    attempt.place = new Node(attempt);
    attempt.waitsSince ??= spareMs();
    if (first) this.#list.unshiftNode(attempt.place);
    else this.#list.pushNode(attempt.place);
  }

  /** Whether it waited: it does no more. */
  remove(attempt: Attempt): boolean {
    const { place } = attempt;
    if (place === undefined) return false;
    attempt.place = undefined;
    this.#list.removeNode(place);
    return true;
  }

  /** The failure of whoever waits longest, and of those others that began at `since` (`performance.now()`) or before. */
  fail(failure: SendFailure, since: number): void {
    const [longest, ...others] = this.#list;
    if (longest === undefined) return;
    for (const attempt of [longest, ...others.filter(({ startedAt }) => startedAt <= since)]) {
      this.remove(attempt);
      attempt.fail(failure);
    }
  }
}
