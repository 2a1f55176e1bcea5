import { later, openGateRig } from './gate-rig.js';

const took = (durationMs: number) => ({ kind: 'succeeded', durationMs }) as const;

it('a worker that leaves attempts what is known to be fast, and sends away the rest', () => {
  const { gate, knock, pass } = openGateRig();
  gate.leave(pass({ ref: 'fast' }), took(10));
  gate.leave(pass({ ref: 'slow' }), took(2_000));
  gate.onlyFast();
  gate.leave(pass({ ref: 'fast' }), took(10));
  for (const ref of ['slow', 'unknown']) expect(later(knock({ ref })).reason).toBe('leaving');
});

it('it sends away what waits for a slow endpoint, but not a last attempt', async () => {
  const { gate, knock, pass } = openGateRig({ endpointConcurrency: 1 });
  gate.leave(pass({ ref: 'slow' }), took(1_000));
  pass({ ref: 'slow' });
  const waiting = knock({ ref: 'slow' });
  gate.onlyFast();
  expect(await waiting).toMatchObject({ kind: 'later', reason: 'leaving' });
  expect(pass({ ref: 'unknown', last: true })).toMatchObject({ kind: 'pass' });
});

it('a fast endpoint that ends nothing any more is no longer taken for fast', () => {
  const { gate, knock, pass, advance } = openGateRig();
  gate.leave(pass(), took(10));
  gate.onlyFast();
  pass();
  advance(501);
  expect(later(knock()).reason).toBe('leaving');
});
