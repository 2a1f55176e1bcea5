/**
 * Microseconds of the machine's monotonic clock. All processes of one machine share its zero, so a time taken by the
 * generator can be compared with one taken by the receiver. It never jumps. (`performance.now` has a zero of its own in
 * each process.)
 */
export const monotonicMicros = (): number => Number(process.hrtime.bigint()) / 1_000;

/**
 * Percentiles of some times, in their unit. Nearest rank: the smallest value that at least this share of all values does not
 * exceed. NaN when there are none.
 */
export function percentilesOf(micros: Iterable<number>) {
  const sorted = Float64Array.from(micros).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) };
}
export type Percentiles = ReturnType<typeof percentilesOf>;
