import { performance } from 'node:perf_hooks';
import { backoffMs } from '../retry.js';
import type { Task } from './partition-tracker.js';
import { asError } from '../faults.js';
import type { SourceOptions } from './source-types.js';
import { HANDLE_RETRY_LONGEST_MS } from '../limits.js';

/**
 * The records given to `handle` and not settled, bounded by the window. `handle` is called for a record until it resolves, or until
 * `onPoison` takes the record. A record handled at the first call needs no timer and no promise but the handler's.
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

  /** `onSettled` is called after each settled record, when there is capacity again. */
  constructor(options: SourceOptions, onSettled: () => void) {
    this.#options = options;
    this.#onSettled = onSettled;
  }

  /** Whether one more record may start, whatever its size. A record larger than the window passes alone. */
  get hasCapacity(): boolean {
    const { maxInFlight, maxInFlightBytes, hasCapacity } = this.#options.window;
    return this.records < maxInFlight && this.#bytes < maxInFlightBytes && hasCapacity?.() !== false;
  }

  health() {
    return {
      inFlight: this.records,
      /** Records whose handler failed and which wait for another call. */
      retrying: this.#retries.size,
      /**
       * When a record was last settled, or the broker last responded while nothing was in flight (`performance.now()`). Fail liveness
       * when it lies far behind.
       */
      lastProgressAt: this.#lastProgressAt,
      /** The last fault; undefined when nothing failed since the last progress and no record waits for another call. */
      lastError: this.#lastError,
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
    // The next owner of a lost partition decides about its records.
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
      // The next owner of a lost partition handles the record.
      if (task.tracker.assigned) this.#call(task, failures);
      else this.#settled(task);
    };
    const timer = setTimeout(callAgain, backoffMs(failures, HANDLE_RETRY_LONGEST_MS));
    this.#retries.add(timer);
  }

  #progressed(): void {
    this.#lastProgressAt = performance.now();
    if (this.#retries.size === 0) this.#lastError = undefined;
  }

  /** The broker responded. That counts as progress while nothing is in flight. */
  responded(): void {
    if (this.records === 0) this.#progressed();
  }

  failed(error: unknown): void {
    this.#lastError = asError(error).message;
  }

  /** Ends all retries. The next owner of the partitions reads those records again. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#retries) clearTimeout(timer);
  }
}
