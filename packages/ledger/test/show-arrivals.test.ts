import type { Arrival } from '@webhooks/testkit';
import { createArrivalLines } from '../src/show-arrivals.js';

const arrival = {
  path: '/own',
  headers: { 'webhook-attempt': '1' },
  body: Buffer.from('{}'),
} as unknown as Arrival;

it.each([
  [1, ['→ 200 POST /own attempt 1 {}']],
  [20, Array.from({ length: 20 }, () => '→ 200 POST /own attempt 1 {}')],
  [
    974,
    [
      ...Array.from({ length: 20 }, () => '→ 200 POST /own attempt 1 {}'),
      '→ … and 954 more notifications in this second',
    ],
  ],
])('%d notifications in a second', (count, expected) => {
  const lines: string[] = [];
  const ends: (() => void)[] = [];
  const show = createArrivalLines(
    (line) => lines.push(line),
    (work) => ends.push(work),
  );
  for (let shown = 0; shown < count; shown += 1) show(arrival, 200);
  for (const end of ends) end();
  expect(lines).toEqual(expected);
  show(arrival, 200);
  expect(ends).toHaveLength(2);
});
