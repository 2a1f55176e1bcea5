import { untilFurther } from '../src/wait-for-used.js';

const LONG_AGO = { waiting: 1, waitedMs: 0, begunAgoMs: 1_000 };

it.each([
  [0, 0],
  [7, 0],
  [8, 1],
  [31, 1],
  [32, 64],
  [255, 64],
])('with %i usable connections an attempt waits %i of 64 ms for one of them', (usable, expected) => {
  expect(untilFurther({ ...LONG_AGO, usable }, 64)).toBe(expected);
  expect(untilFurther({ ...LONG_AGO, usable, waitedMs: 64 }, 64)).toBeLessThanOrEqual(0);
});

it.each([
  [1, 10],
  [64, 10],
  [128, 5],
  [1_024, 0.625],
])('with %i attempts waiting there is a further connection each %i ms', (waiting, paceMs) => {
  const shortage = { usable: 8, waiting, waitedMs: 1_000 };
  expect(untilFurther({ ...shortage, begunAgoMs: paceMs / 2 }, 64)).toBe(paceMs / 2);
  expect(untilFurther({ ...shortage, begunAgoMs: paceMs }, 64)).toBe(0);
});

it('a few are opened whenever the one before was', () => {
  expect(untilFurther({ usable: 7, waiting: 1, waitedMs: 0, begunAgoMs: 0 }, 64)).toBe(0);
});
