import { performance } from 'node:perf_hooks';
import { eventually } from '@webhooks/testkit';
import type { Sink } from '../../src/index.js';

const EVERY_MS = 25;

/**
 * A steady trickle of records to each partition of a topic, and when each was handled: the longest time in which nothing
 * of a partition was handled is how long its deliveries stood still.
 */
export class Trickle {
  readonly #sink: Sink;
  readonly #topic: string;
  readonly #handledAt: readonly number[][];
  readonly #timer: NodeJS.Timeout;
  #written = 0;
  #lost: unknown;

  constructor(sink: Sink, topic: string, partitions: number) {
    this.#sink = sink;
    this.#topic = topic;
    this.#handledAt = Array.from({ length: partitions }, () => []);
    this.#timer = setInterval(() => this.#write(), EVERY_MS);
  }

  #write(): void {
    const n = (this.#written += 1);
    const records = this.#handledAt.map((_, partition) => ({
      topic: this.#topic,
      partition,
      value: `${partition}:${n}`,
    }));
    Promise.all(records.map((record) => this.#sink.send(record))).catch(
      (error: unknown) => (this.#lost = error),
    );
  }

  /** Tells that a record was handled, by its value. */
  handled(value: string): void {
    this.#handledAt[Number(value.split(':')[0])]?.push(performance.now());
  }

  /** Resolves when each partition is being handled, from now on. */
  async flows(): Promise<void> {
    const from = performance.now();
    await eventually(() => this.#handledAt.every((times) => times.some((at) => at > from + 10 * EVERY_MS)), {
      timeoutMs: 20_000,
    });
    if (this.#lost !== undefined) throw new Error('a record was not written', { cause: this.#lost });
  }

  /** The longest standstill of any partition since `from` (`performance.now()`), which lies in a flow. */
  longestGapMs(from: number): number {
    const gaps = this.#handledAt.flatMap((times) => {
      const after = [from, ...times.filter((at) => at > from)];
      return after.slice(1).map((at, index) => at - (after[index] ?? at));
    });
    return Math.max(...gaps);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
