import type { Task } from './lane.js';
import type { Logger } from './log.js';
import type { KafkaRecord } from './record.js';
import type { GiveUp } from './source-types.js';
import type { WindowGate } from './window-gate.js';
import { backoffMs } from './kafkajs-adapter/backoff.js';
import { asError } from './protocol/errors.js';

export interface HandlingOptions {
  readonly handle: (record: KafkaRecord) => Promise<unknown>;
  readonly giveUp: GiveUp | undefined;
  readonly gate: WindowGate;
  readonly log: Logger;
  /** A record was handled or given up: there is room. */
  readonly onSettled: () => void;
}

const MAX_RETRY_MS = 10_000;

/**
 * Calls `handle` until it resolves, or `giveUp` has found another end: a rejection means "not handled". No promise and no timer is made for a record that
 * is handled at the first call, beyond the promise its handler returns.
 */
export class Handling {
  readonly #options: HandlingOptions;
  readonly #waiting = new Map<NodeJS.Timeout, Task>();
  #stopped = false;
  #lastError: string | undefined;

  constructor(options: HandlingOptions) {
    this.#options = options;
  }

  /** `retrying`: records that wait for another call; `lastError`: why. */
  health(): { readonly retrying: number; readonly lastError?: string } {
    const retrying = this.#waiting.size;
    return retrying === 0 || this.#lastError === undefined
      ? { retrying }
      : { retrying, lastError: this.#lastError };
  }

  start(task: Task): void {
    this.#options.gate.enter(task.record.size);
    this.#call(task, 0);
  }

  #call(task: Task, failures: number): void {
    const done = () => this.#done(task);
    const failed = (error: unknown) => this.#failed(task, failures + 1, error);
    try {
      this.#options.handle(task.record).then(done, failed);
    } catch (error) {
      failed(error);
    }
  }

  #done(task: Task): void {
    task.finish();
    this.#leave(task);
  }

  #leave(task: Task): void {
    this.#options.gate.leave(task.record.size);
    this.#options.onSettled();
  }

  #failed(task: Task, failures: number, error: unknown): void {
    this.#tell(task, failures, error);
    if (this.#stopped) return;
    const ending = this.#endingOf(task, failures, error);
    if (ending === undefined) return this.#callLater(task, failures);
    const kept = () => this.#done(task);
    const notKept = (why: unknown) => {
      this.#tell(task, failures, why);
      if (!this.#stopped) this.#callLater(task, failures);
    };
    ending.then(kept, notKept);
  }

  /** A record whose partition is another's by now is not ours to keep elsewhere. */
  #endingOf({ record, lane }: Task, times: number, error: unknown): Promise<unknown> | undefined {
    return lane.assigned ? this.#options.giveUp?.({ record, error, times }) : undefined;
  }

  #tell(task: Task, failures: number, error: unknown): void {
    const { topic, partition, offset } = task.record;
    this.#lastError = asError(error).message;
    const fields = { topic, partition, offset, failures, error: this.#lastError };
    this.#options.log('warn', 'kafka: a record was not handled', fields);
  }

  #callLater(task: Task, failures: number): void {
    const timer = setTimeout(
      () => {
        this.#waiting.delete(timer);
        if (task.lane.assigned) this.#call(task, failures);
        else this.#abandon(task);
      },
      backoffMs(failures, MAX_RETRY_MS),
    );
    this.#waiting.set(timer, task);
  }

  /** The partition is another's: so is the record. */
  #abandon(task: Task): void {
    task.abandon();
    this.#leave(task);
  }

  /** Records that wait for another call will not get it here: their next owner reads them again. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#waiting.keys()) clearTimeout(timer);
  }
}
