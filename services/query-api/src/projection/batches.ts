import { setTimeout as wait } from 'node:timers/promises';
import { errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

export interface BatchesOptions<T> {
  readonly name: string;
  /** Applies items together, in the order in which they came. A rejection means "again": it must be idempotent. */
  readonly apply: (items: readonly T[]) => Promise<void>;
  /** Items that one call gets, at most; default: all that wait. */
  readonly maxItems?: number | undefined;
  /** Time from the begin of one batch to that of the next, at least; default 0. */
  readonly intervalMs?: number;
  readonly log: Logger;
}

/** Between two tries. */
const PAUSE_MS = 500;

/**
 * Applies items in batches, one batch at a time: while one is being written the next collects, so a lone item waits for
 * nobody and a flood is written in large batches. What could not be applied is tried again before anything behind it, so
 * that the order within a partition stays; how much waits is bounded by whoever adds.
 */
export class Batches<T> {
  readonly #options: BatchesOptions<T>;
  readonly #stopping = new AbortController();
  #waiting: T[] = [];
  #next = Promise.withResolvers<undefined>();
  #running = false;
  #lastAt = -Infinity;

  constructor(options: BatchesOptions<T>) {
    this.#options = options;
  }

  /** Resolves when the item is applied; never rejects, and never resolves for what was not applied before `stop`. */
  add(item: T): Promise<unknown> {
    this.#waiting.push(item);
    const { promise } = this.#next;
    if (!this.#running) {
      this.#running = true;
      // What the same fetch brought comes in the same turn of the event loop.
      setImmediate(() => this.#begin());
    }
    return promise;
  }

  /** Ends the tries; what is not applied is read again by the next owner. */
  stop(): void {
    this.#stopping.abort();
  }

  #begin(): void {
    this.#run().catch((error: unknown) => {
      this.#options.log.error(`${this.#options.name}: batches ended`, errorFields(error));
    });
  }

  async #run(): Promise<void> {
    const { intervalMs = 0 } = this.#options;
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const pauseMs = this.#lastAt + intervalMs - performance.now();
      if (intervalMs > 0 && pauseMs > 0) await this.#pause(pauseMs);
      this.#lastAt = performance.now();
      const items = this.#waiting;
      const done = this.#next;
      this.#waiting = [];
      this.#next = Promise.withResolvers<undefined>();
      if (await this.#applyAll(items)) done.resolve(undefined);
    }
    this.#running = false;
  }

  async #applyAll(items: readonly T[]): Promise<boolean> {
    const { maxItems = items.length } = this.#options;
    for (let from = 0; from < items.length; from += maxItems) {
      if (!(await this.#applySurely(items.slice(from, from + maxItems)))) return false;
    }
    return true;
  }

  /** Waits, or until it is stopped. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  /** Tries until it succeeds; false when it was stopped before. */
  async #applySurely(items: readonly T[]): Promise<boolean> {
    const { name, apply, log } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await apply(items);
        if (failures > 0) log.info(`${name}: writing works again`, { failures });
        return true;
      } catch (error) {
        if (failures === 0) log.warn(`${name}: could not be written; it goes on trying`, errorFields(error));
        await this.#pause(PAUSE_MS);
      }
    }
    return false;
  }
}
