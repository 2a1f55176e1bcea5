import { performance } from 'node:perf_hooks';
import { backoffMs } from '../retry.js';
import type { Task } from './partition-tracker.js';
import { asError } from '../faults.js';
import type { SourceOptions } from './source-types.js';

/** Between two calls of a record, at most: each one may repeat what its handler did, and writes a line to the log. */
const LONGEST_RETRY_MS = 10_000;

/**
 * What is given to `handle` and not settled. The window bounds it. Each record is called until `handle` resolves, or `onPoison`
 * has found another end. No promise and no timer is made for a record that is handled at the first call, beyond the promise
 * its handler returns.
 */
export class InFlight {
  readonly #options: SourceOptions;
  readonly #onSettled: () => void;
  readonly #retries = new Set<NodeJS.Timeout>();
  records = 0;
  #bytes = 0;
  #lastProgressAt = performance.now();
  #lastError: string | undefined;
  #stopped = false;

  /** `onSettled`: a record was settled, there is capacity. */
  constructor(options: SourceOptions, onSettled: () => void) {
    this.#options = options;
    this.#onSettled = onSettled;
  }

  /** For one more, whatever its size: a record larger than the window still passes, alone. */
  get hasCapacity(): boolean {
    const { maxInFlight, maxInFlightBytes, hasCapacity } = this.#options.window;
    return this.records < maxInFlight && this.#bytes < maxInFlightBytes && hasCapacity?.() !== false;
  }

  health() {
    return {
      inFlight: this.records,
      retrying: this.#retries.size,
      lastProgressAt: this.#lastProgressAt,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  start(task: Task): void {
    this.records += 1;
    this.#bytes += task.record.size;
    this.#call(task, 0);
  }

  #call(task: Task, failures: number): void {
    const settled = () => this.#settled(task);
    const failed = (error: unknown) => this.#failed(task, failures + 1, error);
    try {
      this.#options.handle(task.record).then(settled, failed);
    } catch (error) {
      failed(error);
    }
  }

  #settled(task: Task): void {
    task.finish();
    this.records -= 1;
    this.#bytes -= task.record.size;
    this.#progressed();
    this.#onSettled();
  }

  #failed(task: Task, times: number, error: unknown): void {
    const { record, tracker } = task;
    // A record whose partition is another's by now is not ours to keep elsewhere.
    const isOurs = tracker.assigned && !this.#stopped;
    const kept = isOurs ? this.#options.onPoison?.({ record, error, times }) : undefined;
    if (kept === undefined) return this.#callLater(task, times, error);
    kept.then(
      () => this.#settled(task),
      (fault: unknown) => this.#callLater(task, times, fault),
    );
  }

  #callLater(task: Task, failures: number, error: unknown): void {
    this.failed(error);
    const { topic, partition, offset } = task.record;
    const fields = { topic, partition, offset, failures, error: this.#lastError };
    this.#options.kafka.log('warn', 'kafka: a record was not handled', fields);
    if (this.#stopped) return;
    const callAgain = () => {
      this.#retries.delete(timer);
      // What lies in a partition that was lost is handled by its next owner.
      if (task.tracker.assigned) this.#call(task, failures);
      else this.#settled(task);
    };
    const timer = setTimeout(callAgain, backoffMs(failures, LONGEST_RETRY_MS));
    this.#retries.add(timer);
  }

  #progressed(): void {
    this.#lastProgressAt = performance.now();
    if (this.#retries.size === 0) this.#lastError = undefined;
  }

  /** The broker responded: progress when there is nothing else to do. */
  responded(): void {
    if (this.records === 0) this.#progressed();
  }

  failed(error: unknown): void {
    this.#lastError = asError(error).message;
  }

  /** What waits for another call does not get it here: the next owner reads it again. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#retries) clearTimeout(timer);
  }
}
