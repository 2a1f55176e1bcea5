import type { ConfigurationRecord, DeliveryTask } from '@webhooks/contracts';
import type { SendResult } from '@webhooks/outbound';
import { NO_TRACING } from '@webhooks/runtime';
import { Admission } from '../src/admission/admission.js';
import type { PermitEnd } from '../src/admission/endpoint-state.js';
import { toConfiguration } from '../src/configurations/configuration.js';
import type { Configuration } from '../src/configurations/configuration.js';
import { deliver } from '../src/path/deliver.js';
import type { DeliverPorts } from '../src/path/deliver.js';
import type { Settled } from '../src/path/settle.js';
import { buildRecord, buildTask } from './builders.js';

const source = { topic: 'payments.events', partition: 0, offset: '1' };
const build = (over: Partial<ConfigurationRecord> = {}): Configuration =>
  toConfiguration(buildRecord(over), { keys: [] });
const ACTIVE = build();
const DISABLED = build({ enabled: false });
const ACCEPTED: SendResult = { kind: 'responded', status: 200, cut: false, durationMs: 3 };
const [EVENT = '', EARLIER = '', SPAN = ''] = ['1', '2', '3'].map(
  (digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`,
);
const WITHDRAWN: SendResult = { kind: 'withdrawn', durationMs: 3 };

const RULES = {
  endpointConcurrency: 1,
  maxAttempts: 1_024,
  queueLimit: 1_000,
  breaker: { failures: 10, firstPauseMs: 30_000, maxPauseMs: 600_000 },
};
const SCHEDULE = { delaysMs: [1_000], jitter: 0, maxAgeMs: 86_400_000, retryAfterMaxMs: 1_000 };

type Reader = DeliverPorts['cache']['reader'];
/** The first `looks` look-ups find the first configuration, later ones the second. Two come before admission, one before the post. */
function cacheOf(first: Configuration, second = first, reader: Partial<Reader> = {}, looks = 3) {
  let looked = 0;
  const find = () => (looked++ < looks ? first : second);
  const fresh = { isFresh: () => true, whenFresh: () => Promise.resolve(), catchUp: () => Promise.resolve() };
  return { table: { find, hasTenant: () => true, enabledFor: () => [] }, reader: { ...fresh, ...reader } };
}
/** A cache that is fresh until the attempt has a connection. */
const stale = (whenFresh: Reader['whenFresh'], looks = [true, true]): Partial<Reader> => ({
  isFresh: () => looks.shift() ?? false,
  whenFresh,
});

/** A real admission with one slot; what was given back, and what happened in which order. */
function openRig(over: Partial<DeliverPorts> = {}) {
  const admission: Admission = new Admission(RULES);
  const ends: PermitEnd['kind'][] = [];
  const steps: string[] = [];
  const settled: Settled[] = [];
  const append = async (): Promise<void> => {
    await Promise.resolve();
    steps.push('settled');
  };
  const ports: DeliverPorts = {
    admission: {
      admit: (...args) => admission.admit(...args),
      throttle: (...args) => admission.throttle(...args),
      release: (permit, end) => {
        ends.push(end.kind);
        admission.release(permit, end);
      },
    },
    cache: cacheOf(ACTIVE),
    sender: { post: ({ mayStart }) => Promise.resolve(mayStart?.() ? ACCEPTED : WITHDRAWN) },
    userAgent: 'test',
    vendorHeader: 'x-test-signature',
    forwardTraceparent: false,
    schedule: SCHEDULE,
    startSpan: NO_TRACING.startSpan,
    publish: append,
    attemptLog: { append },
    onFault: () => undefined,
    observe: (one) => {
      settled.push(one);
      steps.push('observed');
    },
    ...over,
  };
  const start = (task: DeliveryTask = buildTask({ firstDueAt: Date.now() })) => deliver(task, source, ports);
  return { admission, ends, steps, settled, start };
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
  ])('whose attempt %s by our own fault is deferred, and its slot is free', async (_how, post) => {
    const rig = openRig({ sender: { post } });
    expect(await rig.start()).toBe('deferred');
    expect(rig.settled[0]?.outcome).toBeUndefined();
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.admission.stats().busy).toBe(0);
  });

  it('whose tenant gets no new connection now is deferred, and no attempt is counted', async () => {
    const rig = openRig({ sender: { post: () => Promise.resolve({ kind: 'throttled', durationMs: 50 }) } });
    expect(await rig.start()).toBe('deferred');
    expect(rig.settled).toMatchObject([{ outcome: undefined, settlement: { reason: 'throttled' } }]);
    expect(rig.ends).toEqual(['unmade']);
  });

  it.each([true, false])(
    'whose trace is sampled ends its spans, and with FORWARD_TRACEPARENT (%s) tells the endpoint',
    async (forwardTraceparent) => {
      const spans: unknown[] = [];
      const seen: (readonly string[])[] = [];
      const rig = openRig({
        forwardTraceparent,
        schedule: { ...SCHEDULE, delaysMs: [1_000, 1_000] },
        startSpan: (cause, describe) => {
          const { name, links } = describe();
          return { traceparent: SPAN, end: (ended) => spans.push({ cause, name, links, ...ended }) };
        },
        sender: {
          post: ({ headers }) => {
            seen.push(headers);
            return Promise.resolve({ ...ACCEPTED, status: 503 });
          },
        },
      });
      const traced = { traceparent: EVENT, previousTraceparent: EARLIER };
      const task = buildTask({ firstDueAt: Date.now(), attempt: 2, ...traced });
      expect(await rig.start(task)).toBe('retry');
      expect(seen.map((headers) => headers.includes(SPAN))).toEqual([forwardTraceparent]);
      expect(spans).toMatchObject([
        {
          cause: EVENT,
          name: 'POST',
          links: [EVENT, EARLIER],
          'error.type': '503',
          'webhook.settlement': 'retry',
        },
        { cause: SPAN, name: 'settle' },
      ]);
    },
  );

  it('of an endpoint that was disabled makes no attempt and takes no slot', async () => {
    const rig = openRig({ cache: cacheOf(DISABLED) });
    expect(await rig.start()).toBe('cancelled');
    expect(rig.ends).toEqual([]);
  });

  it.each<[string, Partial<Reader>]>([
    ['at once', {}],
    ['after the cache has caught up', stale(() => Promise.resolve())],
  ])(
    'whose configuration changed before the first byte looks again, %s, and gives the slot back',
    async (_how, reader) => {
      const rig = openRig({ cache: cacheOf(ACTIVE, DISABLED, reader) });
      expect(await rig.start()).toBe('cancelled');
      expect(rig.ends).toEqual(['unmade']);
      expect(rig.admission.stats().busy).toBe(0);
    },
  );

  it('whose webhook was disabled while it was queued begins no attempt, and gives the slot back', async () => {
    let posts = 0;
    const post = () => Promise.resolve({ ...ACCEPTED, status: 200 + posts++ });
    const rig = openRig({ cache: cacheOf(ACTIVE, DISABLED, {}, 2), sender: { post } });
    expect(await rig.start()).toBe('cancelled');
    expect({ posts, ends: rig.ends }).toEqual({ posts: 0, ends: ['unmade'] });
  });

  it('whose URL changed before the first byte is attempted at the new one', async () => {
    const attempted: string[] = [];
    const rig = openRig({
      cache: cacheOf(ACTIVE, build({ endpointUrl: 'https://x.example/new' })),
      sender: {
        post: ({ target, mayStart }) => {
          if (!mayStart?.()) return Promise.resolve(WITHDRAWN);
          attempted.push(target.path);
          return Promise.resolve(ACCEPTED);
        },
      },
    });
    expect(await rig.start()).toBe('delivered');
    expect(attempted).toEqual(['/new']);
  });

  it('that has its slot while the cache becomes stale is not handled, and its slot is free again', async () => {
    const lost = stale(() => Promise.reject(new Error('no cache')));
    const rig = openRig({ cache: cacheOf(ACTIVE, ACTIVE, lost) });
    await expect(rig.start()).rejects.toThrow('no cache');
    expect(rig.ends).toEqual(['unmade']);
    expect(rig.admission.stats().busy).toBe(0);
    expect(rig.steps).toEqual([]);
  });

  it('whose settlement is not acknowledged is neither counted nor handled', async () => {
    const rig = openRig({ attemptLog: { append: () => Promise.reject(new Error('the worker stops')) } });
    await expect(rig.start()).rejects.toThrow('the worker stops');
    expect(rig.steps).toEqual([]);
  });
});
