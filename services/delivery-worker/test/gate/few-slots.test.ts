import type { GateRig } from './gate-rig.js';
import { OK, knockOften, openGateRig } from './gate-rig.js';

const WIDE = { endpointConcurrency: 64, queueLimit: 100_000 };

/** How many attempts are under way at one endpoint that more want to reach. */
function busyAt(rig: GateRig, ref: string): number {
  const before = rig.gate.stats().busy;
  knockOften(rig, 100, { ref });
  return rig.gate.stats().busy - before;
}

function answerOnce({ gate, pass }: GateRig, ref: string, durationMs: number, tenantId = 'acme'): void {
  gate.leave(pass({ ref, tenantId }), { kind: 'succeeded', durationMs });
}

/** Ten endpoints of ten tenants, known for a second, and how all of them are knocked at. */
function knowTen(rig: GateRig): () => void {
  const refs = Array.from({ length: 10 }, (_, index) => `known-${index}`);
  for (const ref of refs) answerOnce(rig, ref, 10, ref);
  rig.advance(1_001);
  return () => {
    for (const ref of refs) knockOften(rig, 100, { ref, tenantId: ref });
  };
}

it('an endpoint has 16 slots in its first second, and 64 from then on', () => {
  const rig = openGateRig(WIDE);
  expect(busyAt(rig, 'new')).toBe(16);
  answerOnce(rig, 'known', 10);
  rig.advance(1_001);
  expect(busyAt(rig, 'known')).toBe(64);
});

it('of 16 slots two are kept for first attempts', () => {
  const rig = openGateRig(WIDE);
  knockOften(rig, 40, { ref: 'new', waited: true });
  expect(rig.gate.stats().busy).toBe(14);
  rig.pass({ ref: 'new' });
});

it('a changed URL is a new endpoint', () => {
  const rig = openGateRig(WIDE);
  answerOnce(rig, 'known', 10);
  rig.advance(1_001);
  knockOften(rig, 100, { ref: 'known', url: '/new' });
  expect(rig.gate.stats().busy).toBe(16);
});

it('what waits for a slot has it when the first second is over', () => {
  const rig = openGateRig(WIDE);
  busyAt(rig, 'new');
  answerOnce(rig, 'other', 10);
  rig.advance(1_001);
  rig.gate.leave(rig.pass({ ref: 'other' }), OK);
  rig.gate.sweep(true);
  expect(rig.gate.stats().busy).toBe(64);
});

it('while no CPU time is left quick endpoints have fewer slots, until it has been there for a second', () => {
  const rig = openGateRig(WIDE);
  const knockAtAll = knowTen(rig);
  rig.gate.sweep(true);
  knockAtAll();
  const { busy } = rig.gate.stats();
  expect(busy).toBe(350);
  for (let looks = 0; looks < 3; looks += 1) rig.gate.sweep(false);
  expect(rig.gate.stats().busy).toBe(busy);
  rig.gate.sweep(false);
  expect(rig.gate.stats().busy).toBe(640);
});

it('while no CPU time is left an endpoint has its 16, though others that hang hold more than that many of all', () => {
  const rig = openGateRig(WIDE);
  answerOnce(rig, 'quick', 10);
  const knockAtHanging = knowTen(rig);
  knockAtHanging();
  expect(rig.gate.stats().busy).toBe(640);
  rig.gate.sweep(true);
  expect(busyAt(rig, 'quick')).toBe(16);
});
