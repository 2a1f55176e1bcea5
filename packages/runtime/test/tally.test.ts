import { createTally } from '../src/tally.js';

it('gives the first one at once, and then how many there were, once in 10 s', () => {
  let nowMs = 1_000_000;
  const tally = createTally(() => nowMs);
  const told: (number | undefined)[] = [];
  for (let second = 0; second < 25; second += 1) {
    told.push(...Array.from({ length: 250 }, tally));
    nowMs += 1_000;
  }
  expect(told.filter((count) => count !== undefined)).toEqual([1, 2_500, 2_500]);
  expect(told.findIndex((count) => count !== undefined)).toBe(0);
});

it('gives one that comes after a quiet time at once', () => {
  let nowMs = 0;
  const tally = createTally(() => nowMs);
  expect(tally()).toBe(1);
  nowMs = 9_999;
  expect(tally()).toBeUndefined();
  nowMs = 10_000;
  expect(tally()).toBe(2);
});
