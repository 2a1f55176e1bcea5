import { Admission } from '../../src/admission/admission.js';
import type { AdmissionRules } from '../../src/admission/admission.js';
import type { Permit, PermitEnd, Verdict } from '../../src/admission/endpoint-state.js';
import { TICK_MS } from '../../src/admission/queue.js';
import { buildTask } from '../builders.js';

const SECOND = 1_000;
const RULES: AdmissionRules = {
  endpointConcurrency: 4,
  maxAttempts: 1_024,
  queueLimit: 256,
  breaker: { failures: 10, firstPauseMs: 30 * SECOND, maxPauseMs: 600 * SECOND },
};
const OK: PermitEnd = { kind: 'succeeded', durationMs: 10 };
const FAILED: PermitEnd = { kind: 'failed', label: '500' };

interface Asked {
  readonly ref?: string;
  readonly tenantId?: string;
  readonly attempt?: number;
  readonly deferrals?: number;
  readonly last?: boolean;
  readonly path?: string;
  readonly ageMs?: number;
  readonly maxConcurrency?: number;
}

const DEFAULTS = {
  ref: 'a',
  tenantId: 'acme',
  attempt: 1,
  deferrals: 0,
  last: false,
  path: '/hook',
  ageMs: 0,
  maxConcurrency: undefined,
};

const fail = (error: unknown): never => {
  throw error;
};

/** An admission whose clock stands still until it is moved. */
function openRig(over: Partial<AdmissionRules> = {}) {
  let now = SECOND;
  const clock = { now: () => now, unixNow: () => now, random: () => 0.5 };
  const admission = new Admission({ ...RULES, ...over }, clock);
  const admit = (asked: Asked = {}): Verdict | Promise<Verdict> => {
    const { ref, tenantId, attempt, deferrals, last, path, ageMs, maxConcurrency } = {
      ...DEFAULTS,
      ...asked,
    };
    const task = buildTask({ ref, tenantId, attempt, deferralCount: deferrals, firstDueAt: now - ageMs });
    return admission.admit(task, { origin: 'https://x.example', path, maxConcurrency }, last);
  };
  const permit = (asked?: Asked): Permit => {
    const verdict = admit(asked);
    if (verdict instanceof Promise || verdict.kind !== 'permit') throw new Error('not admitted at once');
    return verdict;
  };
  const breakDown = (asked?: Asked): void => {
    for (let count = 0; count < 10; count += 1) admission.release(permit(asked), FAILED);
  };
  const advance = (ms: number): void => {
    now += ms;
    for (let ticks = Math.min(100, ms / TICK_MS); ticks > 0; ticks -= 1) admission.tick();
  };
  return { admission, admit, permit, breakDown, advance };
}

describe('an endpoint whose policy bounds its attempts at once', () => {
  it('has no more than its policy allows, and follows a changed policy', async () => {
    const { admission, admit, permit } = openRig();
    const held = permit({ maxConcurrency: 1 });
    const waiting = [admit({ maxConcurrency: 1 }), admit({ maxConcurrency: 3 })];
    expect(admission.stats()).toEqual({ busy: 1, queued: 2 });
    admission.release(held, OK);
    for (const verdict of waiting) await verdict;
    expect(admission.stats()).toEqual({ busy: 2, queued: 0 });
    permit({ maxConcurrency: 3 });
    expect(admit({ maxConcurrency: 3 })).toBeInstanceOf(Promise);
  });

  it('never has more than the worker gives any endpoint', () => {
    const { admit, permit } = openRig();
    const generous = { maxConcurrency: 1_000 };
    for (let count = 0; count < RULES.endpointConcurrency; count += 1) permit(generous);
    expect(admit(generous)).toBeInstanceOf(Promise);
  });
});

describe('while the breaker is open', () => {
  it('a first attempt is deferred to the next probe or a little later, and a retry to the probe itself', () => {
    const { admit, breakDown } = openRig();
    breakDown();
    expect(admit({ attempt: 2 })).toMatchObject({ kind: 'deferred', reason: 'breaker' });
    const [retry, first] = [admit({ attempt: 2 }), admit()].map(
      (verdict) => 'waitMs' in verdict && verdict.waitMs,
    );
    expect(retry).toBeLessThan(31 * SECOND);
    expect(first).toBeGreaterThan(retry as number);
    expect(first).toBeLessThan(40 * SECOND);
  });

  it('the first deferral begins a pause, and so does the first one after that pause', () => {
    const { admit, breakDown, advance } = openRig();
    breakDown();
    const begin = () =>
      [admit(), admit(), admit()].map((verdict) => 'beginsPause' in verdict && verdict.beginsPause);
    expect(begin()).toEqual([true, false, false]);
    advance(29 * SECOND);
    expect(begin()).toEqual([false, false, false]);
    advance(12 * SECOND);
    // The first of them probes.
    expect(begin()).toEqual([false, true, false]);
  });

  it('a pause that a very old delivery begins is no longer than others', () => {
    const { admit, breakDown, advance } = openRig();
    breakDown();
    expect(admit({ ageMs: 4 * 86_400 * SECOND })).toMatchObject({ beginsPause: true });
    advance(31 * SECOND);
    expect(admit()).toMatchObject({ beginsPause: true });
  });

  it('a retry that is old by its schedule waits for the next probe, and a first attempt for a quarter of its age', () => {
    const { admit, breakDown } = openRig();
    breakDown();
    const day = { ageMs: 86_400 * SECOND };
    const [retry, first] = [admit({ ...day, attempt: 9 }), admit(day)].map(
      (verdict) => 'waitMs' in verdict && verdict.waitMs,
    );
    expect(retry).toBeLessThan(31 * SECOND);
    expect(first).toBeGreaterThan(18_000 * SECOND);
  });

  it('one probe is made at a time, and its success lets all others start', () => {
    const { admission, admit, permit, breakDown, advance } = openRig();
    breakDown();
    advance(30 * SECOND);
    const probe = permit({ deferrals: 1 });
    expect(admit({ deferrals: 1 })).toMatchObject({ kind: 'deferred' });
    admission.release(probe, OK);
    permit();
  });

  it('a last attempt is made all the same', () => {
    const { permit, breakDown } = openRig();
    breakDown();
    permit({ last: true });
  });

  it('a changed URL is attempted at once', () => {
    const { permit, breakDown } = openRig();
    breakDown();
    permit({ path: '/new' });
  });

  it('deliveries that wait in memory when it opens are deferred', async () => {
    const { admission, admit, permit } = openRig({ endpointConcurrency: 1 });
    let held = permit();
    const waiting = Array.from({ length: 11 }, () => admit());
    for (const verdict of waiting.slice(0, 9)) {
      admission.release(held, FAILED);
      held = (await verdict) as Permit;
    }
    admission.release(held, FAILED);
    expect(await waiting[10]).toMatchObject({ kind: 'deferred', reason: 'breaker' });
  });
});

it('an endpoint gets no more attempts at once than it may have', async () => {
  const { admission, admit, permit } = openRig();
  const [first] = Array.from({ length: 4 }, () => permit());
  const waiting = admit();
  expect(admission.stats()).toMatchObject({ busy: 4, queued: 1 });
  if (first) admission.release(first, OK);
  expect(await waiting).toMatchObject({ kind: 'permit' });
  expect(admission.stats()).toMatchObject({ busy: 4, queued: 0 });
});

it('tenants take turns when slots are rare, then their endpoints', async () => {
  const { admission, admit, permit } = openRig({ maxAttempts: 1 });
  const order: string[] = [];
  let held = permit({ ref: 'x', tenantId: 'x' });
  const asked = [
    ['big', 'b1'],
    ['big', 'b1'],
    ['big', 'b2'],
    ['small', 's1'],
  ] as const;
  for (const [tenantId, ref] of asked)
    void Promise.resolve(admit({ tenantId, ref })).then((verdict) => {
      order.push(ref);
      if (verdict.kind === 'permit') held = verdict;
    }, fail);
  for (let turn = 0; turn < asked.length; turn += 1) {
    admission.release(held, OK);
    for (let wait = 0; wait < 5; wait += 1) await Promise.resolve();
  }
  expect(order).toEqual(['b1', 's1', 'b2', 'b1']);
});

it('the live topics are not read while the memory is full, and continue when it is not', () => {
  const { admission, admit, permit } = openRig({ queueLimit: 2, endpointConcurrency: 1 });
  const held = permit();
  let wasFree = false;
  admission.waiting.onCapacity(() => (wasFree = admission.waiting.hasCapacity));
  const waiting = [admit(), admit()];
  expect(waiting).toHaveLength(2);
  expect(admission.waiting.hasCapacity).toBe(false);
  admission.release(held, OK);
  expect(wasFree).toBe(true);
});

it('while it drains, only endpoints known to be fast get attempts, and last attempts are made', async () => {
  const { admission, admit, permit } = openRig();
  admission.release(permit({ ref: 'fast' }), OK);
  admission.release(permit({ ref: 'slow' }), { kind: 'succeeded', durationMs: 1_900 });
  for (let count = 0; count < 4; count += 1) permit({ ref: 'slow' });
  const waiting = admit({ ref: 'slow' });
  admission.beginDrain();
  expect(await waiting).toMatchObject({ kind: 'deferred', reason: 'draining' });
  permit({ ref: 'fast' });
  for (const ref of ['slow', 'unknown']) expect(admit({ ref })).toMatchObject({ reason: 'draining' });
  permit({ ref: 'unknown', last: true });
});

it('an endpoint without a delivery for an hour is forgotten', () => {
  const { admission, permit, breakDown, advance } = openRig();
  breakDown({ ref: 'dead' });
  advance(1_800 * SECOND);
  admission.release(permit({ ref: 'fine' }), OK);
  advance(1_801 * SECOND);
  expect([...admission.endpoints()].map(({ ref }) => ref)).toEqual(['fine']);
});
