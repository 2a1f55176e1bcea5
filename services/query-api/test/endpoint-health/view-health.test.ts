import { causeOf } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';
import {
  BUCKET_MS,
  DAY_MS,
  HOUR_MS,
  addEntry,
  binOf,
  bucketStartOf,
  emptyBucket,
  endOfBin,
} from '../../src/endpoint-health/health-bucket.js';
import type { HealthBucket } from '../../src/endpoint-health/health-bucket.js';
import { viewHealth } from '../../src/endpoint-health/view-health.js';
import { foldEntries, NO_EPISODES } from '../../src/episodes/episode.js';
import { REF, delivered, failed, deferred } from '../delivery-log/support/entries.js';

const NOW = bucketStartOf(Date.now()) + 5 * 60_000;

function bucketsOf(entries: readonly AttemptLogEntry[]): HealthBucket[] {
  const buckets = new Map<number, HealthBucket>();
  for (const entry of entries) {
    const start = bucketStartOf(entry.at);
    buckets.set(start, addEntry(buckets.get(start) ?? emptyBucket(entry), entry));
  }
  return [...buckets.values()];
}

function view(...entries: AttemptLogEntry[]) {
  const episode = foldEntries(NO_EPISODES, entries, 5 * 60_000).current;
  return viewHealth(REF, { enabled: true, episode }, bucketsOf(entries), NOW);
}

const ok = (agoMs: number, durationMs = 10) => delivered({ at: NOW - agoMs, durationMs });
const ours = (agoMs: number) => deferred({ at: NOW - agoMs, nextAt: NOW + 5_000, reason: 'fault' });
const bad = (agoMs: number, status = 503) => failed({ at: NOW - agoMs, status });

describe('the health of an endpoint', () => {
  it('of a disabled endpoint is disabled, with the counts of its attempts', () => {
    const buckets = bucketsOf([ok(4_000), bad(3_000), bad(2_000), bad(1_000)]);
    const disabled = viewHealth(REF, { enabled: false }, buckets, NOW);
    expect(disabled).toMatchObject({ state: 'disabled', lastHour: { attempts: 4 } });
    expect(disabled.lastFailureAt).toBe(new Date(NOW - 1_000).toISOString());
    expect(disabled.failingSince).toBeUndefined();
    expect(viewHealth(REF, { enabled: false }, [], NOW).state).toBe('disabled');
  });

  it('shows the delivery policy, and warns 30 days before its client certificate ends', () => {
    const withEnd = (days: number) => {
      const certificateNotAfter = new Date(NOW + days * 86_400_000).toISOString();
      return viewHealth(REF, { enabled: true, policy: { timeoutMs: 20_000, certificateNotAfter } }, [], NOW);
    };
    expect(withEnd(31)).toMatchObject({ policy: { timeoutMs: 20_000 }, certificateEndsSoon: false });
    expect([withEnd(29), withEnd(-1)].map((health) => health.certificateEndsSoon)).toEqual([true, true]);
    expect(view()).not.toHaveProperty('policy');
    expect(view()).not.toHaveProperty('certificateEndsSoon');
  });

  it('is idle without an attempt', () => {
    expect(view()).toMatchObject({ state: 'idle', lastHour: { attempts: 0 }, failures: [] });
    expect(view().lastHour.successRate).toBeUndefined();
  });

  it.each<[string, AttemptLogEntry[], string]>([
    ['successes', [ok(1_000), ok(500)], 'healthy'],
    ['two failures behind a success', [ok(3_000), bad(2_000), bad(1_000)], 'healthy'],
    ['three failures behind a success', [ok(4_000), bad(3_000), bad(2_000), bad(1_000)], 'failing'],
    ['three failures and a success behind them', [bad(4_000), bad(3_000), bad(2_000), ok(1_000)], 'healthy'],
    [
      'failures in an earlier stretch and now',
      [bad(BUCKET_MS + 60_000), bad(BUCKET_MS), bad(1_000)],
      'failing',
    ],
    [
      'failures, and a success in a later stretch',
      [bad(BUCKET_MS + 3_000), bad(BUCKET_MS + 2_000), bad(BUCKET_MS + 1_000), ok(1_000)],
      'healthy',
    ],
    [
      'failures, and a success told after them that was earlier',
      [bad(3_000), bad(2_000), bad(1_000), ok(9_000)],
      'failing',
    ],
    ['a deferral by our own fault behind a success', [ok(2_000), ours(1_000)], 'deferred'],
    ['nothing but deferrals by our own fault', [ours(1_000)], 'deferred'],
    ['a success behind a deferral by our own fault', [ours(2_000), ok(1_000)], 'healthy'],
    [
      'failures, and a deferral by our own fault behind them',
      [bad(4_000), bad(3_000), bad(2_000), ours(1_000)],
      'paused',
    ],
    [
      'failures, and a deferral from the time before them',
      [
        deferred({ at: NOW - 5_000, nextAt: NOW + 5_000 }),
        ok(4_000),
        ...[3_000, 2_000, 1_000].map((agoMs) => bad(agoMs)),
      ],
      'failing',
    ],
    ['a deferral by the state of the endpoint', [ok(2_000), deferred({ at: NOW - 1_000 })], 'healthy'],
  ])('with %s', (_name, entries, state) => {
    expect(view(...entries).state).toBe(state);
  });

  it('fails since the first failure after the last success', () => {
    const { failingSince, lastSuccessAt, lastFailureAt } = view(
      bad(9_000),
      ok(8_000),
      bad(3_000),
      bad(2_000),
      bad(1_000),
    );
    expect(failingSince).toBe(new Date(NOW - 3_000).toISOString());
    expect(lastSuccessAt).toBe(new Date(NOW - 8_000).toISOString());
    expect(lastFailureAt).toBe(new Date(NOW - 1_000).toISOString());
  });

  it('fails since its episode began, however long ago', () => {
    const failure = { at: NOW - 3 * DAY_MS, status: 503 };
    const parts = { enabled: true, episode: { first: failure, last: failure, attempts: 3 } };
    const failing = bucketsOf([bad(3_000), bad(2_000), bad(1_000)]);
    expect(viewHealth(REF, parts, failing, NOW)).toMatchObject({
      state: 'failing',
      failingSince: new Date(NOW - 3 * DAY_MS).toISOString(),
    });
    // The last attempts are up to 24 h apart.
    expect(viewHealth(REF, parts, [], NOW)).toMatchObject({ state: 'failing' });
  });

  it('is paused while deliveries are deferred, and says until when', () => {
    const waits = deferred({ at: NOW - 500, nextAt: NOW + 30_000 });
    const failing = [bad(3_000), bad(2_000), bad(1_000)];
    expect(view(...failing, waits)).toMatchObject({
      state: 'paused',
      until: new Date(NOW + 30_000).toISOString(),
    });
    expect(view(...failing, deferred({ at: NOW - 500, nextAt: NOW - 100 })).state).toBe('failing');
    expect(view(ok(1_000), waits).state).toBe('healthy');
  });

  it('counts the last hour and the last day apart', () => {
    const { lastHour, lastDay } = view(ok(1_000), bad(2_000), ok(2 * HOUR_MS), ok(DAY_MS - BUCKET_MS));
    expect(lastHour).toMatchObject({ attempts: 2, successRate: 0.5 });
    expect(lastDay).toMatchObject({ attempts: 4, successRate: 0.75 });
  });

  it('has percentiles that are at most a tenth too high, and never too low', () => {
    const { lastHour } = view(...Array.from({ length: 100 }, (_, index) => ok(1_000, index + 1)));
    for (const [seen = 0, exact] of [
      [lastHour.p50Ms, 50],
      [lastHour.p95Ms, 95],
    ] as const) {
      expect(seen).toBeGreaterThanOrEqual(exact);
      expect(seen).toBeLessThanOrEqual(exact * 1.1 + 0.1);
    }
  });

  it('lists failures by class, the latest first', () => {
    const { status: _status, ...withoutAnswer } = bad(1_000);
    const timeout = { ...withoutAnswer, error: 'TIMEOUT' };
    expect(view(bad(3_000, 500), bad(2_000, 500), timeout).failures).toMatchObject([
      { class: 'TIMEOUT', count: 1 },
      { class: '500', count: 2 },
    ]);
  });

  it('lists the codes of a class separately, each with its cause', () => {
    const { status: _status, ...withoutAnswer } = bad(1_000);
    const refused = { ...withoutAnswer, error: 'CONNECT', code: 'ECONNREFUSED' };
    const closed = { ...withoutAnswer, at: NOW - 2_000, error: 'TLS', code: 'SSL/TLS_ALERT_CLOSE_NOTIFY' };
    expect(view(refused, closed, bad(3_000, 308)).failures).toMatchObject([
      { class: 'CONNECT', code: 'ECONNREFUSED', cause: causeOf({ code: 'ECONNREFUSED' }) },
      {
        class: 'TLS',
        code: 'SSL/TLS_ALERT_CLOSE_NOTIFY',
        cause: causeOf({ error: 'TLS' }),
      },
      { class: '308', cause: causeOf({ status: 308 }) },
    ]);
  });

  it('keeps few classes whatever an endpoint responds', () => {
    const [bucket] = bucketsOf(Array.from({ length: 300 }, (_, index) => bad(1_000, 300 + index)));
    expect(Object.keys(bucket?.failures ?? {}).length).toBeLessThanOrEqual(21);
    expect(bucket?.failures['OTHER']?.count).toBe(280);
  });
});

it.each([0, 0.4, 1, 1.05, 2, 9.99, 10, 10_000])('a duration of %d ms lies in its bin', (ms) => {
  const bin = binOf(ms);
  expect(endOfBin(bin)).toBeGreaterThanOrEqual(ms - 1e-6);
  if (bin > 0) expect(endOfBin(bin - 1)).toBeLessThan(ms);
});
