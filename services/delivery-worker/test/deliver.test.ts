import type { DeliveryTask } from '@webhooks/contracts';
import type { SendResult } from '@webhooks/outbound';
import type { Current } from '../src/current-configuration.js';
import type { Settlement } from '../src/decide.js';
import { deliver } from '../src/deliver.js';
import type { DeliverPorts, Settled } from '../src/deliver.js';
import { createGate } from '../src/gate/gate.js';
import type { Gate, PassEnd } from '../src/gate/gate-types.js';
import { buildTask } from './builders.js';
import { RULES } from './gate/gate-rig.js';

const source = { topic: 'payments.events', partition: 0, offset: '1' };
const target = { origin: 'https://x.example', path: '/' };
const ACTIVE = { kind: 'active', configuration: { target } } as Current;
const DISABLED: Current = { kind: 'ended', settlement: { kind: 'cancelled', reason: 'disabled' } };
const ANSWERED: SendResult = { kind: 'answered', status: 200, cut: false, durationMs: 3 };
const DELIVERED: Settlement = { kind: 'delivered' };

/** A real gate with one slot; what was given back, and what happened in which order. */
function openRig(over: Partial<DeliverPorts> = {}) {
  const gate: Gate = createGate({ ...RULES, endpointConcurrency: 1 });
  const ends: PassEnd['kind'][] = [];
  const steps: string[] = [];
  const settled: Settled[] = [];
  const ports: DeliverPorts = {
    gate: {
      enter: (...args) => gate.enter(...args),
      leave: (pass, end) => {
        ends.push(end.kind);
        gate.leave(pass, end);
      },
    },
    current: () => ACTIVE,
    attempt: () => Promise.resolve(ANSWERED),
    decide: () => DELIVERED,
    isLast: () => false,
    parkFor: ({ reason }) => ({ kind: 'parked', reason, dueAt: 1 }),
    parkAfterFault: () => ({ kind: 'parked', reason: 'fault', dueAt: 1 }),
    settle: async (one) => {
      settled.push(one);
      await Promise.resolve();
      steps.push('settled');
    },
    observe: () => steps.push('observed'),
    ...over,
  };
  const start = (task: DeliveryTask = buildTask()) => deliver(task, source, ports);
  return { gate, ports, ends, steps, settled, start };
}

/** Takes the only slot; the answer gives it back. */
function takeSlot({ gate }: ReturnType<typeof openRig>): () => void {
  const pass = gate.enter(buildTask(), target, false);
  if (pass instanceof Promise || pass.kind !== 'pass') throw new Error('the slot was taken');
  return () => gate.leave(pass, { kind: 'succeeded', durationMs: 1 });
}

describe('a delivery', () => {
  it('is counted only when it is settled', async () => {
    const rig = openRig();
    expect(await rig.start()).toBe('delivered');
    expect(rig.steps).toEqual(['settled', 'observed']);
    expect(rig.ends).toEqual(['succeeded']);
  });

  it.each<[string, () => Promise<SendResult>]>([
    [
      'throws',
      () => {
        throw new Error('no key');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no socket'))],
  ])('whose attempt %s by our own fault is parked, and its slot is free', async (_how, attempt) => {
    const rig = openRig({ attempt });
    expect(await rig.start()).toBe('parked');
    expect(rig.settled[0]?.outcome).toBeUndefined();
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.gate.stats().busy).toBe(0);
  });

  it('of an endpoint that was disabled makes no attempt and takes no slot', async () => {
    const rig = openRig({ current: () => DISABLED });
    expect(await rig.start()).toBe('cancelled');
    expect(rig.ends).toEqual([]);
  });

  it.each<[string, Current | Promise<Current>]>([
    ['at once', DISABLED],
    ['after the picture has caught up', Promise.resolve(DISABLED)],
  ])('that waited for its slot looks again, %s, and gives the slot back', async (_how, second) => {
    let looks = 0;
    const rig = openRig({ current: () => (looks++ === 0 ? ACTIVE : second) });
    const giveBack = takeSlot(rig);
    const done = rig.start();
    giveBack();
    expect(await done).toBe('cancelled');
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.gate.stats().busy).toBe(0);
  });

  it('that has its slot and loses the picture is not handled, and the slot is free', async () => {
    let looks = 0;
    const lost = (): Promise<Current> => Promise.reject(new Error('no picture'));
    const rig = openRig({ current: () => (looks++ === 0 ? ACTIVE : lost()) });
    const giveBack = takeSlot(rig);
    const done = rig.start();
    giveBack();
    await expect(done).rejects.toThrow('no picture');
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.gate.stats().busy).toBe(0);
    expect(rig.steps).toEqual([]);
  });

  it('whose settlement is not acknowledged is neither counted nor handled', async () => {
    const rig = openRig({ settle: () => Promise.reject(new Error('the worker stops')) });
    await expect(rig.start()).rejects.toThrow('the worker stops');
    expect(rig.steps).toEqual([]);
  });
});
