import { HealthBoard, NO_TRACING, Registry } from '@webhooks/runtime';
import { Admission } from '../src/admission/admission.js';
import { createObservers } from '../src/observe/attempt-line.js';
import { createMeters } from '../src/observe/metrics.js';
import { watchAdmission } from '../src/observe/watch-admission.js';
import { buildTask } from './builders.js';

type Meters = ReturnType<typeof createMeters>;

/** The samples of one metric, each by its labels, after what is done with the meters. */
async function readAfter(name: string, act: (meters: Meters) => void): Promise<Record<string, number>> {
  const registry = new Registry();
  act(createMeters(registry));
  const samples = (await registry.metrics()).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  const ofMetric = [...samples].filter(([, metric]) => metric === name);
  return Object.fromEntries(ofMetric.map(([, , labels = '', value]) => [labels, Number(value)] as const));
}

describe('what is counted on the way of a delivery', () => {
  it('is each attempt by the class of its outcome', async () => {
    const count = (meters: Meters) => {
      for (const status of [200, 204, 200]) meters.attempted({ kind: 'accepted', status, durationMs: 5 });
      meters.attempted({ kind: 'refused', status: 503, durationMs: 700 });
      meters.attempted({ kind: 'unreachable', error: 'TLS', code: 'CERT_HAS_EXPIRED', durationMs: 1 });
    };
    const byClass = { 'outcome="2xx"': 3, 'outcome="5xx"': 1, 'outcome="TLS"': 1 };
    const denied = { 'outcome="ADDRESS_DENIED"': 0 };
    expect(await readAfter('webhook_attempts_total', count)).toEqual({ ...byClass, ...denied });
    expect(await readAfter('webhook_attempt_duration_seconds_count', count)).toEqual(byClass);
    expect(await readAfter('webhook_attempt_duration_seconds_sum', count)).toEqual({
      'outcome="2xx"': expect.closeTo(0.015) as number,
      'outcome="5xx"': 0.7,
      'outcome="TLS"': 0.001,
    });
  });

  it('is each decision by its kind and reason, and dead ones are 0 before the first', async () => {
    const count = (meters: Meters) => {
      for (const kind of ['delivered', 'delivered'] as const) meters.settled({ kind });
      for (const reason of ['busy', 'breaker', 'busy'] as const)
        meters.settled({ kind: 'deferred', dueAt: 1, reason, isLogged: false });
      meters.settled({ kind: 'dead', reason: 'expired' });
    };
    expect(await readAfter('webhook_settlements_total', count)).toEqual({
      'kind="delivered",reason=""': 2,
      'kind="deferred",reason="busy"': 2,
      'kind="deferred",reason="breaker"': 1,
      'kind="deferred",reason="fault"': 0,
      'kind="dead",reason="expired"': 1,
      'kind="dead",reason="attempts-exhausted"': 0,
      'kind="dead",reason="configuration-unknown"': 0,
    });
  });

  it('is each event by what becomes of it', async () => {
    const count = (meters: Meters) => {
      for (let times = 0; times < 2; times += 1) meters.event('fanned-out');
      meters.event('unmatched');
    };
    expect(await readAfter('webhook_events_total', count)).toEqual({
      'result="fanned-out"': 2,
      'result="unmatched"': 1,
      'result="unconfigured"': 0,
      'result="rejected"': 0,
    });
  });
});

/** Lines of `/metrics` after a failed attempt at each of so many endpoints, each of a tenant of its own. */
async function seriesWith(endpoints: number): Promise<number> {
  const registry = new Registry();
  const silent = (): undefined => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const scope = { log, registry, health: new HealthBoard(), tracing: NO_TRACING };
  const breaker = { failures: 1, firstPauseMs: 30_000, maxPauseMs: 600_000 };
  const rules = { endpointConcurrency: 4, maxAttempts: 20_000, queueLimit: 256, breaker };
  const admission = new Admission(rules);
  const table = { find: silent, hasTenant: () => true, enabledFor: () => [] };
  watchAdmission(admission, table, { ...scope, onClose: silent, addPage: silent, fail: silent });
  const observers = createObservers(registry, log, 1);
  for (let n = 0; n < endpoints; n += 1) {
    const task = buildTask({ ref: `ref-${n}`, tenantId: `tenant-${n}` });
    const permit = await admission.admit(task, { origin: `https://host-${n}.example`, path: '/' }, false);
    if (permit.kind !== 'permit') throw new Error('every endpoint has a free slot');
    admission.release(permit, { kind: 'failed', label: '500' });
    observers.settled({
      ...{ task, source: task.origin, at: 0, settlement: { kind: 'retry', dueAt: 1 } },
      outcome: { kind: 'refused', status: 500, durationMs: 1 },
    });
  }
  return (await registry.metrics()).split('\n').length;
}

it('10,000 endpoints that fail have no more series than one', async () => {
  expect(await seriesWith(10_000)).toBe(await seriesWith(1));
});
