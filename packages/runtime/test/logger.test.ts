import { createLogThrottle } from '../src/logger.js';

it('a throttle reports the first event at once, and then the number of events once in 10 s', () => {
  let nowMs = 1_000_000;
  const throttle = createLogThrottle(() => nowMs);
  const reported: (readonly [second: number, count: number])[] = [];
  for (let second = 0; second < 25; second += 1) {
    for (let event = 0; event < 250; event += 1) throttle((count) => reported.push([second, count]));
    nowMs += 1_000;
  }
  expect(reported).toEqual([
    [0, 1],
    [10, 2_500],
    [20, 2_500],
  ]);
});

it('a throttle reports an event at once after a long pause', () => {
  let nowMs = 0;
  const throttle = createLogThrottle(() => nowMs);
  const reported: number[] = [];
  const report = (count: number): void => void reported.push(count);
  throttle(report);
  nowMs = 9_999;
  throttle(report);
  expect(reported).toEqual([1]);
  nowMs = 10_000;
  throttle(report);
  expect(reported).toEqual([1, 2]);
});
