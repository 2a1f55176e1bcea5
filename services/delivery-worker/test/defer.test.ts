import { defer, deferAfterFault } from '../src/path/decide.js';
import type { DecisionInput, Settlement } from '../src/path/decide.js';

const NOW = Date.parse('2026-11-21T14:03:28.000Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;
const schedule = { delaysMs: [], jitter: 0.2, maxAgeMs: 8 * DAY, retryAfterMaxMs: DAY };

const input = (
  over: Partial<DecisionInput> = {},
): Pick<DecisionInput, 'firstDueAt' | 'now' | 'schedule'> => ({
  firstDueAt: NOW,
  now: NOW,
  schedule,
  ...over,
});

describe('after our own fault a delivery', () => {
  it.each<[string, number, Partial<DecisionInput>, Settlement]>([
    [
      'waits 30 s at first',
      0,
      {},
      { kind: 'deferred', reason: 'fault', dueAt: NOW + 30 * SECOND, isLogged: true },
    ],
    [
      'then twice as long',
      1,
      { firstDueAt: NOW - DAY },
      { kind: 'deferred', reason: 'fault', dueAt: NOW + MINUTE, isLogged: true },
    ],
    [
      'and a quarter of its age at most, whatever deferred it before',
      6,
      { firstDueAt: NOW - 4 * MINUTE },
      { kind: 'deferred', reason: 'fault', dueAt: NOW + MINUTE, isLogged: true },
    ],
    [
      'and 30 min at most',
      1_000,
      { firstDueAt: NOW - DAY },
      { kind: 'deferred', reason: 'fault', dueAt: NOW + 30 * MINUTE, isLogged: true },
    ],
    [
      'never beyond the greatest age',
      9,
      { firstDueAt: NOW - 8 * DAY + SECOND },
      { kind: 'deferred', reason: 'fault', dueAt: NOW + SECOND, isLogged: true },
    ],
    [
      'at which it is owed an attempt all the same',
      0,
      { firstDueAt: NOW - 8 * DAY },
      { kind: 'deferred', reason: 'fault', dueAt: NOW + 30 * SECOND, isLogged: true },
    ],
    ['and a day later it is dead', 9, { firstDueAt: NOW - 9 * DAY }, { kind: 'dead', reason: 'expired' }],
  ])('%s', (_, deferralCount, over, expected) => {
    expect(deferAfterFault(deferralCount, input(over))).toEqual(expected);
  });

  it.each<[string, number, Settlement]>([
    [
      'waits like any other',
      0,
      { kind: 'deferred', reason: 'fault', dueAt: NOW + 30 * SECOND, isLogged: true },
    ],
    ['is dead at its greatest age', 8 * DAY, { kind: 'dead', reason: 'configuration-unknown' }],
  ])('to a webhook that is not known %s', (_, ageMs, expected) => {
    const task = input({ firstDueAt: NOW - ageMs });
    expect(deferAfterFault(0, task, 'configuration-unknown')).toEqual(expected);
  });
});

describe('a delivery that admission defers', () => {
  it.each<[string, number, Partial<DecisionInput>, number]>([
    ['is due when admission says', 700, {}, 700],
    ['not earlier, for a fraction of a millisecond', 0.2, {}, 1],
    ['at its greatest age at the latest, for its last attempt', MINUTE, { firstDueAt: NOW - 8 * DAY + 5 }, 5],
    ['after it when admission says', 700, { firstDueAt: NOW - 8 * DAY }, 700],
  ])('%s', (_, waitMs, over, expected) => {
    const settlement = defer({ waitMs, reason: 'breaker', beginsPause: false }, input(over));
    const dueAt = NOW + expected;
    expect(settlement).toEqual({ kind: 'deferred', reason: 'breaker', dueAt, isLogged: false });
  });

  it('because its tenant gets no connection is dead a day after its greatest age', () => {
    const throttled = { waitMs: 700, reason: 'throttled', beginsPause: false } as const;
    expect(defer(throttled, input({ firstDueAt: NOW - 9 * DAY + 1 }))).toMatchObject({ kind: 'deferred' });
    expect(defer(throttled, input({ firstDueAt: NOW - 9 * DAY }))).toEqual({
      kind: 'dead',
      reason: 'expired',
    });
  });
});
