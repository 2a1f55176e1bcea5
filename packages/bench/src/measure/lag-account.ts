/** How far one projection is behind. */
export interface ProjectionLag {
  readonly projection: string;
  readonly records: number;
  /** Age of the oldest record that was read and is not projected. */
  readonly seconds: number;
}

const METRIC = /^query_projection_lag_(records|seconds)\{[^}]*projection="([^"]+)"[^}]*\} (\S+)$/gm;

/** The lags that query-api's `/metrics` tells; none while its projections do not run. */
export function parseLags(metrics: string): readonly ProjectionLag[] {
  const lags = new Map<string, { records: number; seconds: number }>();
  for (const [, kind, projection = '', value] of metrics.matchAll(METRIC)) {
    const lag = lags.get(projection) ?? { records: NaN, seconds: NaN };
    lags.set(projection, { ...lag, [kind ?? '']: Number(value) });
  }
  return [...lags].map(([projection, lag]) => ({ projection, ...lag }));
}

/** Whether no projection is behind. */
export const areZero = (lags: readonly ProjectionLag[]): boolean =>
  lags.length > 0 && lags.every(({ records }) => records === 0);

/** What became of the lags over some looks. Times are monotonic microseconds. */
export class LagAccount {
  readonly #zeroSince = new Map<string, number>();
  readonly #longest = new Map<string, number>();

  note(at: number, lags: readonly ProjectionLag[]): void {
    for (const { projection, records, seconds } of lags) {
      if (records > 0) this.#zeroSince.delete(projection);
      else if (!this.#zeroSince.has(projection)) this.#zeroSince.set(projection, at);
      this.#longest.set(projection, Math.max(this.longestSeconds(projection), seconds));
    }
  }

  /** Since when the projection has not been behind; undefined while it is. */
  zeroSince(projection: string): number | undefined {
    return this.#zeroSince.get(projection);
  }

  /** The longest lag that was seen. */
  longestSeconds(projection: string): number {
    return this.#longest.get(projection) ?? 0;
  }
}
