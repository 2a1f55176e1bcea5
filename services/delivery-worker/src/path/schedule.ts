import { parseDuration } from '@webhooks/runtime';

/** When a delivery is attempted again, and when it is given up. All in milliseconds. */
export interface RetrySchedule {
  /** Wait before attempt 2, 3, …: one attempt more than there are delays. */
  readonly delaysMs: readonly number[];
  /** Share of a delay by which it is spread, both ways: 0.2 means ±20 %. */
  readonly jitter: number;
  /** Age at which a delivery gets its last attempt, counted from when it was first due. */
  readonly maxAgeMs: number;
  /** Longest wait that an endpoint gets by its `Retry-After`. */
  readonly retryAfterMaxMs: number;
}

/** Below this a delay is drowned in what Kafka and a timer take. */
const MIN_DELAY_MS = 10;
const MAX_DELAY_MS = 7 * 86_400_000;

/** A list such as `5s,30s,2m`: one to 50 delays, each from 10 ms to 7 days. */
export function parseDelays(text: string): readonly number[] {
  const delays = text.split(',').map(parseDuration);
  if (delays.length > 50 || delays.some((delay) => delay < MIN_DELAY_MS || delay > MAX_DELAY_MS)) {
    throw new Error('expected at most 50 delays of 10 ms to 7 days each');
  }
  return delays;
}

/** Attempts at 0, 5 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 4 h, 8 h, 12 h, 24 h, 24 h after the one before. */
export const DEFAULT_DELAYS = '5s,30s,2m,10m,30m,1h,2h,4h,8h,12h,24h,24h';
