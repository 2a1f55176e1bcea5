import { percentilesOf } from '../../../src/bench/measure/times.js';

describe('percentilesOf', () => {
  it('gives the nearest rank, whatever the order', () => {
    const values = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    expect(percentilesOf(values)).toEqual({ p50: 500, p95: 950, p99: 990, p999: 999, max: 1_000 });
  });

  it('gives the only value there is, and none of nothing', () => {
    expect(percentilesOf([7])).toMatchObject({ p50: 7, p999: 7, max: 7 });
    expect(percentilesOf([])).toMatchObject({ p50: NaN, max: NaN });
  });
});
