import { setTimeout as wait } from 'node:timers/promises';
import type { KafkaRecord } from '@webhooks/kafka';
import { errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';

export interface BatchesOptions<T> {
  readonly name: string;
  /**
   * Applies items together, in the order in which they came. Must be idempotent: it is repeated after a rejection.
   */
  readonly apply: (items: readonly T[]) => Promise<void>;
  /** Bytes of one call, at most, or one larger item; default: no bound. */
  readonly maxBytes?: number | undefined;
  /** From the start of one batch to that of the next, unless a full batch waits. Default 0, milliseconds. */
  readonly intervalMs?: number;
  readonly log: Logger;
}

/** Pause between two tries. */
const PAUSE_MS = 500;

interface Waiting<T> {
  readonly item: T;
  readonly done: (value: undefined) => void;
}

/**
 * Applies items in batches, one at a time. While a batch is written the next one collects, so a lone item waits for
 * nobody. A failed batch is tried again before anything behind it, which keeps the order of a partition. Whoever adds
 * items bounds how many wait.
 */
export class Batches<T extends Pick<KafkaRecord, 'size'>> {
  readonly #options: BatchesOptions<T>;
  readonly #stopping = new AbortController();
  readonly #waiting: Waiting<T>[] = [];
  #running = false;
  #failures = 0;

  constructor(options: BatchesOptions<T>) {
    this.#options = options;
  }

  /**
   * Resolves when the item is applied. Never rejects, and never resolves for an item that was not applied before
   * `stop`.
   */
  add(item: T): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#waiting.push({ item, done: resolve });
    if (!this.#running) {
      this.#running = true;
      // Items of one fetch arrive in the same turn of the event loop.
      setImmediate(() => {
        this.#run().catch((error: unknown) => {
          this.#options.log.error(`${this.#options.name}: batches ended`, errorFields(error));
        });
      });
    }
    return promise;
  }

  /** Ends the tries. The next owner reads again what was not applied. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { intervalMs = 0 } = this.#options;
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const nextAt = performance.now() + intervalMs;
      const batch = this.#next();
      if (!(await this.#isApplied(batch))) {
        await this.#pause(PAUSE_MS);
        continue;
      }
      this.#waiting.splice(0, batch.length);
      for (const { done } of batch) done(undefined);
      if (this.#next().length === this.#waiting.length) await this.#pause(nextAt - performance.now());
    }
    this.#running = false;
  }

  /** The items of the next call. */
  #next(): readonly Waiting<T>[] {
    const { maxBytes = Infinity } = this.#options;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ item }, index) => (bytes += item.size) > maxBytes && index > 0);
    return this.#waiting.slice(0, end < 0 ? undefined : end);
  }

  async #isApplied(batch: readonly Waiting<T>[]): Promise<boolean> {
    const { name, apply, log } = this.#options;
    try {
      await apply(batch.map(({ item }) => item));
      if (this.#failures > 0) log.info(`${name}: writing works again`, { failures: this.#failures });
      this.#failures = 0;
      return true;
    } catch (error) {
      if (this.#failures === 0) log.warn(`${name}: could not be written; trying again`, errorFields(error));
      this.#failures += 1;
      return false;
    }
  }

  /** Ends early when it is stopped. */
  async #pause(ms: number): Promise<void> {
    if (ms > 0) await wait(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
