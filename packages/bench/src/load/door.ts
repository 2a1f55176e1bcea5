import type { BenchEvent } from './make-events.js';

/** A way in. */
export interface Door {
  /** Resolves when each of these events was acknowledged; rejects when one was not: the run is void then. */
  send(events: readonly BenchEvent[]): Promise<void>;
  /** False when there is nobody to acknowledge: the time of sending is then taken instead. */
  readonly acknowledges: boolean;
  /** What is due within so long goes together, milliseconds; absent when each goes at once. */
  readonly lingerMs?: number;
  close(): Promise<void>;
}
