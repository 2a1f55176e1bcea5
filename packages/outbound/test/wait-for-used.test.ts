import { areFew, paceMs, waitForUsed } from '../src/wait-for-used.js';

it.each([
  [0, true],
  [7, true],
  [8, false],
])('%i connections are few: %s', (connections, few) => {
  expect(areFew(connections)).toBe(few);
});

it.each([
  [8, 1],
  [31, 1],
  [32, 64],
  [255, 64],
])('with %i connections, an attempt waits %i of 64 ms for one of them', (connections, expected) => {
  expect(waitForUsed(connections, 64)).toBe(expected);
});

it.each([
  [1, 10],
  [64, 10],
  [128, 5],
  [1_024, 0.625],
])('with %i attempts waiting, there is another connection each %i ms', (waiting, expected) => {
  expect(paceMs(waiting)).toBe(expected);
});
