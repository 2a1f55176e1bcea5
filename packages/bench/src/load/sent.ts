import type { Percentiles } from '../measure/histogram.js';
import type { Acceptance } from './acceptance-file.js';

/** What a pace has sent. */
export interface Sent {
  /** First event, monotonic microseconds. */
  readonly startedAt: number;
  readonly acceptances: readonly Acceptance[];
  /** How much later than scheduled; absent without a schedule. */
  readonly lateness?: Percentiles;
}
