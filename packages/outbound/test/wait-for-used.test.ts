import { areFew, waitForUsed } from '../src/wait-for-used.js';

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
