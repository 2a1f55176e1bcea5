import { Histogram, poolAll } from '../../src/measure/histogram.js';

const histogramOf = (values: readonly number[]): Histogram => {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
};

describe('Histogram', () => {
  it('gives the nearest rank of small values exactly', () => {
    const values = Array.from({ length: 1_000 }, (_, index) => index + 1);
    expect(histogramOf(values).percentiles()).toEqual({
      count: 1_000,
      p50: 500,
      p90: 900,
      p99: 990,
      p999: 999,
      max: 1_000,
    });
  });

  it.each([2_047, 2_048, 2_049, 4_095, 4_096, 65_537, 1_000_003, 59_999_999, 2 ** 35 + 12_345])(
    'keeps %d µs to within a thousandth, and never as less',
    (value) => {
      const kept = histogramOf([value, 2 ** 36 - 1]).percentile(0.5);
      expect(kept).toBeGreaterThanOrEqual(value);
      expect(kept).toBeLessThanOrEqual(value * 1.001);
    },
  );

  it('takes percentiles of pooled counts, not of percentiles', () => {
    // 990 quick ones at one receiver, 10 slow ones at another: the p99 of all is quick, the mean of both p99 is not.
    const quick = histogramOf(Array.from({ length: 990 }, () => 100));
    const slow = histogramOf(Array.from({ length: 10 }, () => 1_000));
    const pooled = poolAll([quick, slow]);
    expect(pooled.percentile(0.99)).toBe(100);
    expect(pooled.percentile(0.991)).toBe(1_000);
    expect(pooled.count).toBe(1_000);
    expect(quick.count).toBe(990);
  });

  it('counts a negative time as none and a very long one as the longest', () => {
    expect(histogramOf([-5]).percentiles()).toMatchObject({ p50: 0, max: 0 });
    expect(histogramOf([2 ** 40]).percentiles().max).toBe(2 ** 36 - 1);
  });

  it('has no percentile when it is empty', () => {
    expect(new Histogram().percentiles()).toMatchObject({ count: 0, p99: NaN, max: NaN });
  });
});
