import type { Arrival } from '@webhooks/testkit';
import { createArrivalLines } from '../src/watch.js';

const arrival = {
  path: '/own',
  headers: { 'webhook-attempt': '1' },
  body: Buffer.from('{}'),
} as unknown as Arrival;

const LINE = '→ 200 POST /own attempt 1 {}';
const lines = (count: number): readonly string[] => Array.from({ length: count }, () => LINE);

it.each([
  ['one', [1], [LINE]],
  ['20 in a second', [20], lines(20)],
  ['974 in a second', [974], [...lines(20), '→ … and 954 more notifications in this second']],
  [
    'a flood that ends',
    [974, 8_000, 3, 1],
    [
      ...lines(20),
      '→ … and 954 more notifications in this second',
      '→ 8,000 notifications in this second',
      '→ 3 notifications in this second',
      LINE,
    ],
  ],
  [
    'a flood and a pause',
    [21, 0, 2],
    [...lines(20), '→ … and 1 more notifications in this second', ...lines(2)],
  ],
])('%s', (_, seconds, expected) => {
  const shown: string[] = [];
  const ends: (() => void)[] = [];
  const show = createArrivalLines(
    (line) => shown.push(line),
    (work) => ends.push(work),
  );
  for (const count of seconds) {
    for (let arrived = 0; arrived < count; arrived += 1) show(arrival, 200);
    expect(ends.length).toBeLessThanOrEqual(1);
    ends.pop()?.();
  }
  expect(shown).toEqual(expected);
});
