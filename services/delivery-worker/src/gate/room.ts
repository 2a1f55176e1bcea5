import Denque from 'denque';

/**
 * How many first attempts are queued in memory, and who waits before that with a record that is not opened yet. What is
 * queued for long grows old in the heap: with 5,000 deliveries instead of 500 each of them took 15 % more CPU time, and the
 * worker 100 MiB more, when measured. The sources' windows bound how many wait.
 */
export class Room {
  readonly #limit: number;
  readonly #waiting = new Denque<() => void>();
  queued = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isHalfFull(): boolean {
    return 2 * this.queued >= this.#limit;
  }

  /** A promise only when there is none: it resolves, first come, first served, when there is. */
  enter(): Promise<void> | undefined {
    if (this.queued < this.#limit && this.#waiting.isEmpty()) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** To be called when less is queued than before. Whoever is called enters a moment later: it may be a few too many. */
  callNext(): void {
    for (let free = this.#limit - this.queued; free > 0; free -= 1) this.#waiting.shift()?.();
  }
}
