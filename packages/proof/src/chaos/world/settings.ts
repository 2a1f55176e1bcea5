/** Waits before attempts 2 to 13: as many attempts as the contract has, in a minute instead of 76 hours. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 1_000, 1_000, 2_000, 2_000, 3_000, 5_000, 5_000, 5_000, 6_000, 6_000, 6_000,
];
export const RETRY_JITTER = 0.2;

/** Quick enough that a run of two minutes sees the end of what it began. */
export const WORKER_SETTINGS: Readonly<Record<string, string>> = {
  RETRY_AFTER_MAX: '12s',
  RETRY_DELAYS: RETRY_DELAYS_MS.map((ms) => `${ms}ms`).join(','),
  RETRY_JITTER_PERCENT: String(100 * RETRY_JITTER),
  BREAKER_FIRST_PAUSE: '1s',
  BREAKER_MAX_PAUSE: '4s',
};
