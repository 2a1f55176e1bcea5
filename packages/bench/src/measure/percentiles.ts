/** Percentiles of some times, in microseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Nearest rank: the smallest value that at least this share of all values does not exceed. NaN when there are none. */
export function percentilesOf(micros: Iterable<number>): Percentiles {
  const sorted = Float64Array.from(micros).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) };
}
