import { performance } from 'node:perf_hooks';
import type { WindowGate } from './window-gate.js';
import { asError } from './protocol/errors.js';

/** When something last went forward, and what last went wrong. */
export class Progress {
  readonly #gate: WindowGate;
  #at = performance.now();
  #lastError: string | undefined;

  constructor(gate: WindowGate) {
    this.#gate = gate;
  }

  /** A record was settled. */
  settled(): void {
    this.#at = performance.now();
    this.#lastError = undefined;
  }

  /** The broker answered: progress when there is nothing else to do. */
  idle(): void {
    if (this.#gate.records === 0) this.settled();
  }

  failed(error: unknown): void {
    this.#lastError = asError(error).message;
  }

  report() {
    const base = { lastProgressAt: this.#at };
    return this.#lastError === undefined ? base : { ...base, lastError: this.#lastError };
  }
}
