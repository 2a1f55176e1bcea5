import type { Behaviour } from './behaviour.js';

/** What a receiver process is started with, as JSON in its first argument. */
export interface ReceiverPlan {
  readonly certFile: string;
  readonly keyFile: string;
  /** Its append-only file of receipts. */
  readonly file: string;
  /** How many ports it listens at. */
  readonly ports: number;
  /** A fault to be tested with: the receipt of this arrival (from 1) is not written. */
  readonly dropReceipt?: number;
}

export type ReceiverCommand =
  | { readonly kind: 'behave'; readonly path: string; readonly behaviour: Behaviour }
  /** Closes a port and breaks its connections; what connects is refused until `reopen`. */
  | { readonly kind: 'shut' | 'reopen'; readonly port: number }
  /** Asks for `flushed`. */
  | { readonly kind: 'flush' };

export type ReceiverReport =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  /** How many arrivals each path has answered with 2xx so far; sent at most every 50 ms. */
  | { readonly kind: 'counts'; readonly counts: Readonly<Record<string, number>> }
  | { readonly kind: 'flushed' }
  | { readonly kind: 'done' };
