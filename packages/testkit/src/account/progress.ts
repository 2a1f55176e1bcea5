import { setTimeout as delay } from 'node:timers/promises';

/** A run without progress for this long has failed. The bound is longer than a breaker's first two pauses, 30 s and 60 s. */
export const STALLED_MS = 120_000;

/** `everyMs`: between two polls. `times`: empty polls in a row that end the wait. `stalledMs`: time without progress that ends it. */
const POLLING = { everyMs: 500, times: 1, stalledMs: STALLED_MS };

/** Polls until `countLeft` returns 0 in `times` polls, or has not fallen for `stalledMs`. */
export async function untilNone(
  countLeft: () => number | Promise<number>,
  polling: Partial<typeof POLLING> = {},
): Promise<void> {
  const { everyMs, times, stalledMs } = { ...POLLING, ...polling };
  let [lowest, changedAt] = [Infinity, performance.now()];
  for (let emptyPolls = 0; performance.now() - changedAt < stalledMs;) {
    const left = await countLeft();
    emptyPolls = left === 0 ? emptyPolls + 1 : 0;
    if (emptyPolls === times) return;
    if (left < lowest) [lowest, changedAt] = [left, performance.now()];
    await delay(everyMs);
  }
}

/** How far one projection is behind. */
export interface ProjectionLag {
  readonly projection: string;
  readonly records: number;
  /** Age of the oldest record that is read but not yet projected. */
  readonly seconds: number;
}

const METRIC = /^query_projection_lag_(records|seconds)\{[^}]*projection="([^"]+)"[^}]*\} (\S+)$/gm;

/** Parses the lags in query-api's `/metrics`; empty while its projections do not run. */
export function parseLags(metrics: string): readonly ProjectionLag[] {
  const lags = new Map<string, { records: number; seconds: number }>();
  for (const [, kind, projection = '', value] of metrics.matchAll(METRIC)) {
    const lag = lags.get(projection) ?? { records: NaN, seconds: NaN };
    lags.set(projection, { ...lag, [kind ?? '']: Number(value) });
  }
  return [...lags].map(([projection, lag]) => ({ projection, ...lag }));
}

/** Reads the lags from query-api's admin server. Rejects when it does not respond within 5 s. */
export async function readLags(queryAdmin = ''): Promise<readonly ProjectionLag[]> {
  const response = await fetch(`${queryAdmin}/metrics`, { signal: AbortSignal.timeout(5_000) });
  return parseLags(await response.text());
}

/** Whether all projections have caught up; false for an empty list. */
export const areZero = (lags: readonly ProjectionLag[]): boolean =>
  lags.length > 0 && lags.every(({ records }) => records === 0);
