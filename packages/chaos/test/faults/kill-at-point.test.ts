import { namesOfDead } from '../../src/faults/kill-at-point.js';

const point = { service: 'delivery-worker' as const };
const names = new Map([
  [11, 'delivery-worker'],
  [12, 'delivery-worker-2'],
]);

it('who died at a point is the process that was seen running by this id', () => {
  const seen = { names, running: new Set(['delivery-worker']) };
  expect(namesOfDead(12, point, seen)).toEqual(['delivery-worker-2']);
});

it.each([
  ['the one of its service that was just being started', ['delivery-worker'], ['delivery-worker-2']],
  ['one of those that were', ['ingest'], ['delivery-worker', 'delivery-worker-2']],
  ['one that runs again already', ['delivery-worker', 'delivery-worker-2'], ['delivery-worker']],
])('or, when nobody saw it, %s', (_, running, dead) => {
  expect(namesOfDead(13, point, { names, running: new Set(running) })).toEqual(dead);
});
