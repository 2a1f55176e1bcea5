import type { Random } from '@webhooks/testkit';
import type { Notes } from './notes.js';

/** Inputs of one batch: `from` is in, `to` is not. */
export interface Batch {
  readonly from: number;
  readonly to: number;
  /** The source of chance of an input. */
  readonly randomOf: (index: number) => Random;
}

/** A way into the services. */
export interface Door {
  readonly name: string;
  /** How many inputs one batch has. */
  readonly batchSize: number;
  /**
   * Gives a batch to the service, waits until it is handled and notes what it must not have done with it; then that a valid
   * input is still taken. Rejects only when the fuzzer itself fails.
   */
  take(batch: Batch, notes: Notes): Promise<void>;
  close(): Promise<void>;
}
