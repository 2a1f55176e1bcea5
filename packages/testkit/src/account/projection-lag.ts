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
