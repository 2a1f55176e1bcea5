import { createLogThrottle } from '../src/logger.js';

it('tells of the first one at once, and then how many there were, once in 10 s', () => {
  let nowMs = 1_000_000;
  const throttle = createLogThrottle(() => nowMs);
  const told: (readonly [second: number, count: number])[] = [];
  for (let second = 0; second < 25; second += 1) {
    for (let event = 0; event < 250; event += 1) throttle((count) => told.push([second, count]));
    nowMs += 1_000;
  }
  expect(told).toEqual([
    [0, 1],
    [10, 2_500],
    [20, 2_500],
  ]);
});

it('tells of one that comes after a quiet time at once', () => {
  let nowMs = 0;
  const throttle = createLogThrottle(() => nowMs);
  const told: number[] = [];
  const tell = (count: number): void => void told.push(count);
  throttle(tell);
  nowMs = 9_999;
  throttle(tell);
  expect(told).toEqual([1]);
  nowMs = 10_000;
  throttle(tell);
  expect(told).toEqual([1, 2]);
});
