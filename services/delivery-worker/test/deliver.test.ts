import type { DeliveryTask } from '@webhooks/contracts';
import type { SendResult } from '@webhooks/outbound';
import { Admission } from '../src/admission/admission.js';
import type { PermitEnd } from '../src/admission/endpoint-state.js';
import type { Configuration } from '../src/configurations/configuration.js';
import type { Current } from '../src/configurations/current-configuration.js';
import type { Settlement } from '../src/path/decide.js';
import { deliver } from '../src/path/deliver.js';
import type { DeliverPorts, Settled } from '../src/path/deliver.js';
import { buildTask } from './builders.js';

const source = { topic: 'payments.events', partition: 0, offset: '1' };
const target = { origin: 'https://x.example', path: '/' };
const ACTIVE = { kind: 'active', configuration: { target } } as Current;
const DISABLED: Current = { kind: 'ended', settlement: { kind: 'cancelled', reason: 'disabled' } };
const ANSWERED: SendResult = { kind: 'responded', status: 200, cut: false, durationMs: 3 };
const WITHDRAWN: SendResult = { kind: 'withdrawn', durationMs: 3 };
const DELIVERED: Settlement = { kind: 'delivered' };

const RULES = {
  endpointConcurrency: 1,
  maxAttempts: 1_024,
  queueLimit: 1_000,
  breaker: { failures: 10, firstPauseMs: 30_000, maxPauseMs: 600_000 },
};

/** A real admission with one slot; what was given back, and what happened in which order. */
function openRig(over: Partial<DeliverPorts> = {}) {
  const admission: Admission = new Admission(RULES);
  const ends: PermitEnd['kind'][] = [];
  const steps: string[] = [];
  const settled: Settled[] = [];
  const ports: DeliverPorts = {
    admission: {
      admit: (...args) => admission.admit(...args),
      throttle: (...args) => admission.throttle(...args),
      release: (permit, end) => {
        ends.push(end.kind);
        admission.release(permit, end);
      },
    },
    look: () => ACTIVE,
    attempt: (_task, _configuration, mayStart) => Promise.resolve(mayStart() ? ANSWERED : WITHDRAWN),
    isCurrent: () => true,
    decide: () => DELIVERED,
    isLast: () => false,
    defer: ({ reason, beginsPause }) => ({ kind: 'deferred', reason, dueAt: 1, isLogged: beginsPause }),
    deferAfterFault: () => ({ kind: 'deferred', reason: 'fault', dueAt: 1, isLogged: true }),
    settle: async (one) => {
      settled.push(one);
      await Promise.resolve();
      steps.push('settled');
    },
    observe: () => steps.push('observed'),
    ...over,
  };
  const start = (task: DeliveryTask = buildTask()) => deliver(task, source, ports);
  return { admission, ports, ends, steps, settled, start };
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
  ])('whose attempt %s by our own fault is deferred, and its slot is free', async (_how, attempt) => {
    const rig = openRig({ attempt });
    expect(await rig.start()).toBe('deferred');
    expect(rig.settled[0]?.outcome).toBeUndefined();
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.admission.stats().busy).toBe(0);
  });

  it('whose tenant gets no new connection now is deferred, and no attempt is counted', async () => {
    const rig = openRig({
      attempt: () => Promise.resolve({ kind: 'throttled', durationMs: 50 }),
      defer: ({ reason }) => ({ kind: 'deferred', reason, dueAt: 1, isLogged: true }),
    });
    expect(await rig.start()).toBe('deferred');
    expect(rig.settled).toMatchObject([{ outcome: undefined, settlement: { reason: 'throttled' } }]);
    expect(rig.ends).toEqual(['unmade']);
  });

  it('of an endpoint that was disabled makes no attempt and takes no slot', async () => {
    const rig = openRig({ look: () => DISABLED });
    expect(await rig.start()).toBe('cancelled');
    expect(rig.ends).toEqual([]);
  });

  it.each<[string, Current | Promise<Current>]>([
    ['at once', DISABLED],
    ['after the cache has caught up', Promise.resolve(DISABLED)],
  ])(
    'whose configuration changed before the first byte looks again, %s, and gives the slot back',
    async (_how, second) => {
      let looks = 0;
      const rig = openRig({ look: () => (looks++ === 0 ? ACTIVE : second), isCurrent: () => false });
      expect(await rig.start()).toBe('cancelled');
      expect(rig.ends).toEqual(['unmade']);
      expect(rig.admission.stats().busy).toBe(0);
    },
  );

  it('whose URL changed before the first byte is attempted at the new one', async () => {
    const moved = { target: { ...target, path: '/new' } } as Configuration;
    const attempted: string[] = [];
    let looks = 0;
    const rig = openRig({
      look: () => (looks++ === 0 ? ACTIVE : { kind: 'active', configuration: moved }),
      isCurrent: (configuration) => configuration === moved,
      attempt: (_task, configuration, mayStart) => {
        if (!mayStart()) return Promise.resolve(WITHDRAWN);
        attempted.push(configuration.target.path);
        return Promise.resolve(ANSWERED);
      },
    });
    expect(await rig.start()).toBe('delivered');
    expect(attempted).toEqual(['/new']);
  });

  it('that has its slot and loses the cache is not handled, and the slot is free', async () => {
    let looks = 0;
    const lost = (): Promise<Current> => Promise.reject(new Error('no cache'));
    const rig = openRig({ look: () => (looks++ === 0 ? ACTIVE : lost()), isCurrent: () => false });
    await expect(rig.start()).rejects.toThrow('no cache');
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.admission.stats().busy).toBe(0);
    expect(rig.steps).toEqual([]);
  });

  it('whose settlement is not acknowledged is neither counted nor handled', async () => {
    const rig = openRig({ settle: () => Promise.reject(new Error('the worker stops')) });
    await expect(rig.start()).rejects.toThrow('the worker stops');
    expect(rig.steps).toEqual([]);
  });
});
