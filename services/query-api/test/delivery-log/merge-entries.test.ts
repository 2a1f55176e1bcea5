import type { DeliveryState } from '../../src/delivery-log/delivery-state.js';
import { MAX_ATTEMPTS, mergeEntries } from '../../src/delivery-log/merge-entries.js';
import type { DeliveryEntry } from '../../src/delivery-log/merge-entries.js';
import { cancelled, dead, deferred, delivered, failed, T0 } from './support/entries.js';

const stateOf = (...entries: readonly DeliveryEntry[]): Partial<DeliveryState> => {
  const { at: _at, ...state } = mergeEntries(undefined, entries).state;
  return state;
};
const CYCLE = 'r0191e7a2-0000-7000-8000-00000000000a';

describe('the status of a delivery', () => {
  it.each<readonly [string, readonly DeliveryEntry[], Partial<DeliveryState>]>([
    ['a 2xx', [delivered()], { status: 'delivered', attempt: 1 }],
    ['a failure', [failed()], { status: 'pending', attempt: 1, nextAt: T0 + 5_000 }],
    [
      'a failure and a 2xx',
      [failed(), delivered({ attempt: 2, at: T0 + 5 })],
      { status: 'delivered', attempt: 2 },
    ],
    ['a 2xx, repeated by a failure', [delivered(), failed({ at: T0 + 9 })], { status: 'delivered' }],
    ['a 2xx and a dead letter', [dead({ attempt: 9 }), delivered()], { status: 'delivered', attempt: 1 }],
    [
      'a last failure and its end',
      [failed({ attempt: 13 }), dead({ attempt: 13 })],
      { status: 'dead', attempt: 13, reason: 'attempts-exhausted' },
    ],
    ['an end before a late attempt', [dead({ attempt: 1 }), failed({ attempt: 2 })], { status: 'dead' }],
    ['an end and a cancellation', [dead(), cancelled({ at: T0 + 9 })], { status: 'dead' }],
    [
      'a failure and a cancellation',
      [failed(), cancelled({ attempt: 2 })],
      { status: 'cancelled', reason: 'disabled' },
    ],
    [
      'an attempt that was put aside',
      [failed(), deferred({ attempt: 2, at: T0 + 9 })],
      { status: 'pending', attempt: 2, deferred: true, nextAt: T0 + 30_000 },
    ],
    [
      'an attempt that was put aside and made',
      [deferred({ at: T0 - 9 }), failed({ at: T0 })],
      { status: 'pending', attempt: 1, nextAt: T0 + 5_000 },
    ],
    [
      'the later of two that were put aside',
      [deferred({ at: T0 + 9, nextAt: T0 + 20 }), deferred({ nextAt: T0 + 90 })],
      { status: 'pending', nextAt: T0 + 20, deferred: true },
    ],
    [
      'a redelivery of what was delivered',
      [delivered(), failed({ cycle: CYCLE })],
      { status: 'pending', cycle: CYCLE, nextAt: T0 + 5_000 },
    ],
    [
      'a redelivery of what was dead',
      [dead({ attempt: 13 }), delivered({ cycle: CYCLE })],
      { status: 'delivered', cycle: CYCLE },
    ],
  ])('after %s', (_what, entries, expected) => {
    expect(stateOf(...entries)).toMatchObject(expected);
    expect(stateOf(...entries.toReversed())).toEqual(stateOf(...entries));
  });

  it('has no next time when it is not pending', () => {
    const state = stateOf(deferred({ at: T0 - 9 }), failed(), delivered({ attempt: 2 }));
    expect(state).toEqual({ cycle: '0', status: 'delivered', attempt: 2 });
  });
});

describe('the document of a delivery', () => {
  it('has the times of its earliest and its latest entry, in any order of reading', () => {
    const { createdAt, updatedAt } = mergeEntries(undefined, [
      failed({ at: T0 + 5 }),
      dead({ at: T0 + 9 }),
      deferred({ at: T0 }),
    ]);
    expect([createdAt, updatedAt]).toEqual([T0, T0 + 9]);
  });

  it('has an attempt once after a crash repeated it, and keeps the delivered report', () => {
    const twice = [failed(), delivered({ at: T0 - 5 }), failed({ at: T0 + 9 })];
    const { attempts } = mergeEntries(undefined, twice);
    expect(attempts).toMatchObject([{ attempt: 1, result: 'delivered', at: T0 - 5 }]);
  });

  it('has two attempts of one number when two records caused them', () => {
    const source = { topic: 'webhooks.retries.5s', partition: 1, offset: '9' };
    expect(mergeEntries(undefined, [failed(), failed({ source })]).attempts).toHaveLength(2);
  });

  it('keeps the first attempt and the newest, and says so', () => {
    const entries = Array.from({ length: MAX_ATTEMPTS + 50 }, (_, index) => failed({ attempt: index + 1 }));
    const { attempts, truncated } = mergeEntries(undefined, entries);
    expect(truncated).toBe(true);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([
      1,
      ...Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => index + 52),
    ]);
    expect(mergeEntries(undefined, entries.slice(0, MAX_ATTEMPTS)).truncated).toBeUndefined();
  });

  it('has the attempts that only the dead letter reports, each once', () => {
    const history = `v1 1:${T0}:12:503 2:${T0 + 5}:30:TLS`;
    const end = { ...dead({ attempt: 2, at: T0 + 9 }), history };
    const alone = mergeEntries(undefined, [end]);
    expect(alone).toMatchObject({ createdAt: T0, updatedAt: T0 + 9 });
    expect(alone.attempts).toMatchObject([
      { attempt: 1, at: T0, durationMs: 12, result: 'failed', status: 503 },
      { attempt: 2, at: T0 + 5, durationMs: 30, result: 'failed', error: 'TLS' },
    ]);
    const source = { topic: 'payments.events', partition: 4, offset: '77' };
    const both = mergeEntries(alone, [failed({ source })]);
    expect(both.attempts).toMatchObject([
      { attempt: 1, source: 'payments.events/4/77', nextAt: T0 + 5_000 },
      { attempt: 2, source: '' },
    ]);
    expect(mergeEntries(both, [end])).toEqual(both);
  });

  it('needs at least one entry', () => {
    expect(() => mergeEntries(undefined, [])).toThrow(/expected a delivery or an entry/);
  });
});
