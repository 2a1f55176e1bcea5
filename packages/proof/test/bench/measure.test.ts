import { percentilesOf, voidReason } from '../../src/bench/measure.js';

describe('percentilesOf', () => {
  it('gives the nearest rank, whatever the order', () => {
    const values = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    expect(percentilesOf(values)).toEqual({ p50: 500, p95: 950, p99: 990, p999: 999, max: 1_000 });
  });

  it('gives the only value there is, and NaN without values', () => {
    expect(percentilesOf([7])).toMatchObject({ p50: 7, p999: 7, max: 7 });
    expect(percentilesOf([])).toMatchObject({ p50: NaN, max: NaN });
  });
});

const totals = (over: Partial<Parameters<typeof voidReason>[0]> = {}) => ({
  ...{ accepted: 10, delivered: 10, duplicates: 0, refused: 0, strangers: 0 },
  ...over,
});

describe('a run', () => {
  it('has figures when all of its deliveries arrived, however often', () => {
    expect(voidReason(totals({ duplicates: 3, refused: 2 }))).toBeUndefined();
  });

  it('is void when one endpoint did not get what it was owed', () => {
    expect(voidReason(totals({ delivered: 9 }))).toBe('1 of 10 deliveries are missing');
  });

  it('is void when an endpoint got what nobody accepted', () => {
    expect(voidReason(totals({ strangers: 1 }))).toBe('1 arrivals belong to no accepted event');
  });

  it('counts what waits in Kafka as accounted for, but never twice', () => {
    expect(voidReason(totals({ delivered: 7 }), 3)).toBeUndefined();
    expect(voidReason(totals({ delivered: 7 }), 2)).toBe('1 of 10 deliveries are missing');
    expect(voidReason(totals({ delivered: 7 }), 4)).toBe('1 deliveries are both delivered and waiting');
  });

  it('is void when nothing was accepted: a run without events shows nothing', () => {
    expect(voidReason(totals({ accepted: 0, delivered: 0 }))).toBe('nothing was accepted');
  });
});
