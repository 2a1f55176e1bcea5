import { nameOfDead } from '../../src/faults/kill-at-point.js';

const point = { name: 'before-sending', service: 'delivery-worker' as const };
const names = new Map([
  [11, 'delivery-worker'],
  [12, 'delivery-worker-2'],
]);

it('who died at a point is the process that was seen running by this id', () => {
  const seen = { names, running: new Set(['delivery-worker']) };
  expect(nameOfDead(12, point, seen)).toBe('delivery-worker-2');
});

it('or the one of its service that was just being started', () => {
  const seen = { names, running: new Set(['delivery-worker', 'ingest']) };
  expect(nameOfDead(13, point, seen)).toBe('delivery-worker-2');
});

it.each([
  ['all of its service run', ['delivery-worker', 'delivery-worker-2']],
  ['more than one is being started', ['config-api']],
])('nobody knows who it was when %s', (_, running) => {
  expect(() => nameOfDead(13, point, { names, running: new Set(running) })).toThrow('nobody knows');
});
