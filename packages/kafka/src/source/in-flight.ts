import { backoffMs } from '../retry.js';
import type { InFlightRecord } from './partition-tracker.js';
import { asError } from '../faults.js';
import type { SourceOptions } from './source-types.js';
import { HANDLE_RETRY_LONGEST_MS } from '../limits.js';

/**
 * The records that were passed to `handle` and are not settled, bounded by the window. `handle` is called again for
 * a record until it resolves, `onPoison` resolves for the record, or its partition is lost. A record handled at the first call needs
 * no timer and no further promise.
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

  /** `onSettled` is called after each settled record, because there is capacity again. */
  constructor(options: SourceOptions, onSettled: () => void) {
    this.#options = options;
    this.#onSettled = onSettled;
  }

  /** Whether one more record may start, whatever its size. A record larger than the window is handled alone. */
  get hasCapacity(): boolean {
    const { maxInFlight, maxInFlightBytes, hasCapacity } = this.#options.window;
    return this.records < maxInFlight && this.#bytes < maxInFlightBytes && hasCapacity?.() !== false;
  }

  /** The state of the records in flight. */
  health() {
    return {
      inFlight: this.records,
      /** Records whose handler failed, waiting for another call. */
      retrying: this.#retries.size,
      /**
       * When a record was last settled, or the broker last responded while nothing was in flight; time of
       * `performance.now()`. Liveness should fail when it is far in the past.
       */
      lastProgressAt: this.#lastProgressAt,
      /**
       * The latest fault. Undefined when nothing has failed since the last progress and no record waits for another
       * call.
       */
      lastError: this.#lastError,
    };
  }

  start(entry: InFlightRecord): void {
    this.records += 1;
    this.#bytes += entry.record.size;
    this.#call(entry, 0);
  }

  #call(entry: InFlightRecord, failures: number): void {
    const settled = () => this.#settled(entry);
    const failed = (error: unknown) => this.#failed(entry, failures + 1, error);
    try {
      this.#options.handle(entry.record, entry.tracker).then(settled, failed);
    } catch (error) {
      failed(error);
    }
  }

  #settled(entry: InFlightRecord): void {
    entry.finish();
    this.records -= 1;
    this.#bytes -= entry.record.size;
    this.#progressed();
    this.#onSettled();
  }

  #failed(entry: InFlightRecord, times: number, error: unknown): void {
    const { record, tracker } = entry;
    // The next owner of a lost partition handles the record.
    if (!tracker.assigned) return this.#settled(entry);
    const quarantined = this.#stopped ? undefined : this.#options.onPoison?.({ record, error, times });
    if (quarantined === undefined) return this.#callLater(entry, times, error);
    quarantined.then(
      () => this.#settled(entry),
      (fault: unknown) => this.#callLater(entry, times, fault),
    );
  }

  #callLater(entry: InFlightRecord, failures: number, error: unknown): void {
    this.failed(error);
    const { topic, partition, offset } = entry.record;
    const fields = { topic, partition, offset, failures, error: this.#lastError };
    this.#options.kafka.log('warn', 'kafka: a record was not handled', fields);
    if (this.#stopped) return;
    const callAgain = () => {
      this.#retries.delete(timer);
      // The next owner of a lost partition handles the record.
      if (entry.tracker.assigned) this.#call(entry, failures);
      else this.#settled(entry);
    };
    const timer = setTimeout(callAgain, backoffMs(failures, HANDLE_RETRY_LONGEST_MS));
    this.#retries.add(timer);
  }

  #progressed(): void {
    this.#lastProgressAt = performance.now();
    if (this.#retries.size === 0) this.#lastError = undefined;
  }

  /** Must be called when a broker responded. That counts as progress while nothing is in flight. */
  responded(): void {
    if (this.records === 0) this.#progressed();
  }

  /** Sets `lastError`. */
  failed(error: unknown): void {
    this.#lastError = asError(error).message;
  }

  /** Ends all retries. The next owner of the partitions reads the unsettled records again. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#retries) clearTimeout(timer);
  }
}
