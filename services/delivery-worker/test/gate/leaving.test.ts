import { FAILED, later, openGateRig } from './gate-rig.js';

const took = (durationMs: number) => ({ kind: 'succeeded', durationMs }) as const;

it('a worker that leaves attempts what is known to be fast, and sends away the rest', () => {
  const { gate, knock, pass } = openGateRig();
  gate.leave(pass({ ref: 'fast' }), took(10));
  gate.leave(pass({ ref: 'slow' }), took(2_000));
  gate.onlyFast();
  gate.leave(pass({ ref: 'fast' }), took(10));
  expect(later(knock({ ref: 'slow' })).reason).toBe('leaving');
});

it('it tries once what nobody knows yet, but not when that might last longer than it may', () => {
  const { gate, knock, pass, advance } = openGateRig();
  gate.onlyFast();
  const trial = pass({ ref: 'quiet' });
  expect(later(knock({ ref: 'quiet' })).reason).toBe('leaving');
  gate.leave(trial, took(20));
  gate.leave(pass({ ref: 'quiet' }), took(20));
  gate.leave(pass({ ref: 'refusing' }), FAILED);
  expect(later(knock({ ref: 'refusing' })).reason).toBe('leaving');
  advance(4_501);
  expect(later(knock({ ref: 'other' })).reason).toBe('leaving');
});

it('it probes no endpoint that is down', () => {
  const { gate, knock, advance, breakDown } = openGateRig();
  breakDown();
  advance(60_000);
  gate.onlyFast();
  expect(later(knock({ waited: true })).reason).toBe('leaving');
});

it('it sends away what waits for a slow endpoint, but no last attempt', async () => {
  const { gate, knock, pass } = openGateRig({ endpointConcurrency: 1 });
  gate.leave(pass({ ref: 'slow' }), took(1_000));
  const running = pass({ ref: 'slow' });
  const plain = knock({ ref: 'slow', waited: true });
  const last = knock({ ref: 'slow', waited: true, last: true });
  gate.onlyFast();
  expect(await plain).toMatchObject({ kind: 'later', reason: 'leaving' });
  gate.leave(running, took(1_000));
  expect(await last).toMatchObject({ kind: 'pass' });
  expect(pass({ ref: 'other', last: true })).toMatchObject({ kind: 'pass' });
});

it('a fast endpoint that ends nothing any more is no longer taken for fast', () => {
  const { gate, knock, pass, advance } = openGateRig();
  gate.leave(pass(), took(10));
  gate.onlyFast();
  pass();
  advance(501);
  expect(later(knock()).reason).toBe('leaving');
});
