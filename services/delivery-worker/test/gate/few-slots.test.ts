import type { GateRig } from './gate-rig.js';
import { FAILED, OK, answerOften, knockOften, openGateRig } from './gate-rig.js';

const WIDE = { endpointConcurrency: 64, queueLimit: 100_000 };

/** How many attempts are under way at one endpoint that more want to reach. */
function busyAt(rig: GateRig, ref: string): number {
  const before = rig.gate.stats().busy;
  knockOften(rig, 100, { ref });
  return rig.gate.stats().busy - before;
}

/** Ten endpoints of ten tenants with all their slots, and how all of them are knocked at. */
function knowTen(rig: GateRig): () => void {
  const refs = Array.from({ length: 10 }, (_, index) => `known-${index}`);
  for (const ref of refs) answerOften(rig, { ref, tenantId: ref });
  return () => {
    for (const ref of refs) knockOften(rig, 100, { ref, tenantId: ref });
  };
}

it('an endpoint begins with 16 slots, and each success adds one, up to 64', () => {
  const rig = openGateRig(WIDE);
  expect(busyAt(rig, 'new')).toBe(16);
  for (let count = 0; count < 3; count += 1) rig.gate.leave(rig.pass({ ref: 'answering' }), OK);
  expect(busyAt(rig, 'answering')).toBe(19);
  for (let count = 0; count < 100; count += 1) rig.gate.leave(rig.pass({ ref: 'known' }), OK);
  expect(busyAt(rig, 'known')).toBe(64);
});

it('a failure adds none', () => {
  const rig = openGateRig(WIDE);
  for (let count = 0; count < 9; count += 1) rig.gate.leave(rig.pass({ ref: 'failing' }), FAILED);
  expect(busyAt(rig, 'failing')).toBe(16);
});

it('of 16 slots two are kept for first attempts', () => {
  const rig = openGateRig(WIDE);
  knockOften(rig, 40, { ref: 'new', waited: true });
  expect(rig.gate.stats().busy).toBe(14);
  rig.pass({ ref: 'new' });
});

it('a changed URL is a new endpoint', () => {
  const rig = openGateRig(WIDE);
  answerOften(rig, { ref: 'known' });
  knockOften(rig, 100, { ref: 'known', url: '/new' });
  expect(rig.gate.stats().busy).toBe(16);
});

it('an endpoint that was down begins anew', () => {
  const rig = openGateRig(WIDE);
  answerOften(rig, { ref: 'back' });
  rig.breakDown({ ref: 'back' });
  rig.advance(30_000);
  rig.gate.leave(rig.pass({ ref: 'back', waited: true }), OK);
  expect(busyAt(rig, 'back')).toBe(17);
});

it('what waits for a slot has the one that a success adds', () => {
  const rig = openGateRig(WIDE);
  const first = rig.pass({ ref: 'new' });
  busyAt(rig, 'new');
  rig.gate.leave(first, OK);
  expect(rig.gate.stats().busy).toBe(17);
});

it('one that has not answered yet gets more with the time, and all of them after five seconds', () => {
  const rig = openGateRig(WIDE);
  busyAt(rig, 'slow');
  for (const [ms, slots] of [
    [1_000, 26],
    [3_800, 64],
  ] as const) {
    rig.advance(ms);
    rig.gate.sweep();
    knockOften(rig, 100, { ref: 'slow' });
    expect(rig.gate.stats().busy).toBe(slots);
  }
});

it('one that was quick and ends nothing any more has the few it began with, and more with the time', () => {
  const rig = openGateRig(WIDE);
  answerOften(rig, { ref: 'hanging' });
  knockOften(rig, 16, { ref: 'hanging' });
  rig.advance(101);
  knockOften(rig, 100, { ref: 'hanging' });
  expect(rig.gate.stats().busy).toBe(17);
  rig.advance(500);
  rig.gate.sweep();
  expect(rig.gate.stats().busy).toBe(22);
});

it('one that is quick has all of them for a burst, also when one of its attempts hangs', () => {
  const rig = openGateRig(WIDE);
  answerOften(rig, { ref: 'quick' });
  rig.pass({ ref: 'quick' });
  rig.advance(900);
  expect(busyAt(rig, 'quick')).toBe(63);
});

it('one that is slow has all of them for as long as its attempts take', () => {
  const rig = openGateRig(WIDE);
  for (let count = 0; count < 48; count += 1)
    rig.gate.leave(rig.pass({ ref: 'slow' }), { kind: 'succeeded', durationMs: 3_000 });
  knockOften(rig, 16, { ref: 'slow' });
  rig.advance(900);
  expect(busyAt(rig, 'slow')).toBe(48);
});

it('while no CPU time is left quick endpoints have fewer slots, until it has been there for a second', () => {
  const rig = openGateRig(WIDE);
  const knockAtAll = knowTen(rig);
  rig.gate.note(true);
  knockAtAll();
  const { busy } = rig.gate.stats();
  expect(busy).toBe(350);
  for (let looks = 0; looks < 3; looks += 1) rig.gate.note(false);
  rig.gate.sweep();
  expect(rig.gate.stats().busy).toBe(busy);
  rig.gate.note(false);
  rig.gate.sweep();
  expect(rig.gate.stats().busy).toBe(640);
});

it('while no CPU time is left an endpoint has its 16, though others that hang hold more than that many of all', () => {
  const rig = openGateRig(WIDE);
  answerOften(rig, { ref: 'quick' });
  const knockAtHanging = knowTen(rig);
  knockAtHanging();
  expect(rig.gate.stats().busy).toBe(640);
  rig.gate.note(true);
  expect(busyAt(rig, 'quick')).toBe(16);
});
