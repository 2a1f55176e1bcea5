import { setTimeout as delay } from 'node:timers/promises';

/** Longer than a breaker's first two pauses, 30 s and 60 s. Only a run that fails waits for so long. */
export const STALLED_MS = 120_000;

/** Milliseconds between two polls, how many polls in a row have to find nothing, and milliseconds without progress that end it. */
const POLLING = { everyMs: 500, times: 1, stalledMs: STALLED_MS };

/** Polls until nothing is left, or until what is left gets no less. */
export async function untilNone(
  countLeft: () => number | Promise<number>,
  polling: Partial<typeof POLLING> = {},
): Promise<void> {
  const { everyMs, times, stalledMs } = { ...POLLING, ...polling };
  let [least, changedAt] = [Infinity, performance.now()];
  for (let none = 0; performance.now() - changedAt < stalledMs;) {
    const left = await countLeft();
    none = left === 0 ? none + 1 : 0;
    if (none === times) return;
    if (left < least) [least, changedAt] = [left, performance.now()];
    await delay(everyMs);
  }
}

/** How far one projection is behind. */
export interface ProjectionLag {
  readonly projection: string;
  readonly records: number;
  /** Age of the oldest record that was read and is not projected. */
  readonly seconds: number;
}

const METRIC = /^query_projection_lag_(records|seconds)\{[^}]*projection="([^"]+)"[^}]*\} (\S+)$/gm;

/** The lags in query-api's `/metrics`; none while its projections do not run. */
export function parseLags(metrics: string): readonly ProjectionLag[] {
  const lags = new Map<string, { records: number; seconds: number }>();
  for (const [, kind, projection = '', value] of metrics.matchAll(METRIC)) {
    const lag = lags.get(projection) ?? { records: NaN, seconds: NaN };
    lags.set(projection, { ...lag, [kind ?? '']: Number(value) });
  }
  return [...lags].map(([projection, lag]) => ({ projection, ...lag }));
}

/** The lags that query-api's admin server reports. Rejects when it does not respond within 5 s. */
export async function readLags(queryAdmin = ''): Promise<readonly ProjectionLag[]> {
  const response = await fetch(`${queryAdmin}/metrics`, { signal: AbortSignal.timeout(5_000) });
  return parseLags(await response.text());
}

/** Whether no projection is behind. */
export const areZero = (lags: readonly ProjectionLag[]): boolean =>
  lags.length > 0 && lags.every(({ records }) => records === 0);
