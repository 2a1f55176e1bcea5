import { planSchedule } from '../../src/load/schedule.js';

describe('planSchedule', () => {
  it('spaces events evenly from the start on, the first one at once', () => {
    const schedule = planSchedule({ count: 5, perSecond: 400 }, 1_000_000);
    expect([0, 1, 4].map((index) => schedule.dueAt(index))).toEqual([1_000_000, 1_002_500, 1_010_000]);
  });

  it('says how many are due, from none before the start to all at the end', () => {
    const schedule = planSchedule({ count: 5, perSecond: 400 }, 1_000_000);
    expect(
      [999_999, 1_000_000, 1_002_499, 1_002_500, 1_010_000, 9_000_000].map((now) => schedule.dueBy(now)),
    ).toEqual([0, 1, 1, 2, 5, 5]);
  });

  it('agrees with itself at any rate: an event counts as due from its due time on', () => {
    for (const perSecond of [0.5, 3, 333, 7_001.5]) {
      const schedule = planSchedule({ count: 1_000, perSecond }, 123_456.7);
      for (const index of [0, 1, 499, 999]) {
        expect(schedule.dueBy(schedule.dueAt(index) + 0.01)).toBe(index + 1);
        expect(schedule.dueBy(schedule.dueAt(index) - 0.01)).toBe(index);
      }
    }
  });

  it.each([0, -1, NaN])('refuses a rate of %d', (perSecond) => {
    expect(() => planSchedule({ count: 1, perSecond }, 0)).toThrow('expected a rate above 0');
  });
});
