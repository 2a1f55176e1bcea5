import { parseDelays } from '@webhooks/contracts';
import type { AttemptOutcome } from '../src/path/attempt.js';
import { decide, DEFAULT_RETRY_DELAYS } from '../src/path/decide.js';
import type { DecisionInput, Settlement } from '../src/path/decide.js';

const NOW = Date.parse('2026-11-21T14:03:28.000Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const schedule = {
  delaysMs: parseDelays(DEFAULT_RETRY_DELAYS),
  jitter: 0.2,
  maxAgeMs: 8 * DAY,
  retryAfterMaxMs: HOUR,
};

const answered = (status: number, retryAfter?: string): AttemptOutcome =>
  status < 300 && status >= 200
    ? { kind: 'accepted', status, durationMs: 1 }
    : { kind: 'refused', status, durationMs: 1, ...(retryAfter === undefined ? {} : { retryAfter }) };
const unreachable: AttemptOutcome = {
  kind: 'unreachable',
  error: 'TIMEOUT',
  code: 'DEADLINE',
  durationMs: 10_000,
};
const forbidden: AttemptOutcome = { kind: 'forbidden', error: 'ADDRESS_DENIED', durationMs: 1 };

const input = (over: Partial<DecisionInput> = {}): DecisionInput => ({
  attempt: 1,
  firstDueAt: NOW,
  now: NOW,
  schedule,
  random: 0.5,
  ...over,
});
const retryIn = (waitMs: number): Settlement => ({ kind: 'retry', dueAt: NOW + waitMs });

/** Attempt by attempt: the wait after it. */
const PLAN: readonly (readonly [number, number])[] = [
  [1, 5 * SECOND],
  [2, 30 * SECOND],
  [3, 2 * MINUTE],
  [4, 10 * MINUTE],
  [5, 30 * MINUTE],
  [6, HOUR],
  [7, 2 * HOUR],
  [8, 4 * HOUR],
  [9, 8 * HOUR],
  [10, 12 * HOUR],
  [11, DAY],
  [12, DAY],
];
/** The greatest value that `random` can have. */
const ALMOST_ONE = 1 - Number.EPSILON / 2;
const EXHAUSTED: Settlement = { kind: 'dead', reason: 'attempts-exhausted' };
const EXPIRED: Settlement = { kind: 'dead', reason: 'expired' };

describe('the outcome of an attempt', () => {
  it.each([200, 201, 202, 204, 226, 299])('%d is a success and ends the delivery', (status) => {
    expect(decide(answered(status), input())).toEqual({ kind: 'delivered' });
  });

  it.each([
    300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 409, 410, 422, 429, 451, 500, 501, 502, 503, 504,
    599,
  ])('%d is attempted again: only PUT disables', (status) => {
    expect(decide(answered(status), input())).toEqual(retryIn(5 * SECOND));
  });

  it.each(['DNS', 'CONNECT', 'CONNECT_TIMEOUT', 'TLS', 'SOCKET', 'TIMEOUT', 'PROTOCOL'])(
    'no answer (%s) is attempted again',
    (error) => {
      expect(decide({ ...unreachable, error }, input())).toEqual(retryIn(5 * SECOND));
    },
  );

  it('a denied address is attempted again', () => {
    expect(decide(forbidden, input())).toEqual(retryIn(5 * SECOND));
  });
});

describe.each<[string, AttemptOutcome]>([
  ['refused', answered(500)],
  ['asked to wait', answered(503)],
  ['unreachable', unreachable],
  ['forbidden', forbidden],
])('the schedule of a delivery that is %s', (_, outcome) => {
  it.each(PLAN)('after attempt %d waits %d ms, a fifth less or more', (attempt, plannedMs) => {
    const wait = (random: number) => decide(outcome, input({ attempt, random }));
    expect(wait(0.5)).toEqual(retryIn(plannedMs));
    expect(wait(0)).toEqual(retryIn(0.8 * plannedMs));
    expect(wait(0.25)).toEqual(retryIn(0.9 * plannedMs));
    expect(wait(ALMOST_ONE)).toEqual(retryIn(1.2 * plannedMs));
  });

  it('ends after the 13th attempt, at any jitter', () => {
    expect(decide(outcome, input({ attempt: 13, random: 0 }))).toEqual(EXHAUSTED);
    expect(decide(outcome, input({ attempt: 13, random: ALMOST_ONE }))).toEqual(EXHAUSTED);
    expect(decide(outcome, input({ attempt: 14 }))).toEqual(EXHAUSTED);
  });
});

it('a 2xx at the 13th attempt delivers, and so does one at the greatest age', () => {
  expect(decide(answered(200), input({ attempt: 13 }))).toEqual({ kind: 'delivered' });
  expect(decide(answered(200), input({ firstDueAt: NOW - 9 * DAY }))).toEqual({ kind: 'delivered' });
});

it('no wait is shorter than the plan less its jitter, nor longer than with it, whatever the delay and the chance', () => {
  for (let delay = 10; delay < 3_000; delay += 7) {
    for (const random of [0, 0.001, 0.123, 0.5, 0.777, ALMOST_ONE]) {
      const result = decide(answered(500), input({ random, schedule: { ...schedule, delaysMs: [delay] } }));
      const waitMs = result.kind === 'retry' ? result.dueAt - NOW : Number.NaN;
      expect(Number.isInteger(waitMs)).toBe(true);
      expect(waitMs).toBeGreaterThanOrEqual(0.8 * delay - 1e-6);
      expect(waitMs).toBeLessThanOrEqual(Math.ceil(1.2 * delay));
    }
  }
});

describe.each([429, 502, 503, 504])('Retry-After on a %d', (status) => {
  const date = (waitMs: number): string => new Date(NOW + waitMs).toUTCString();
  const plan = 5 * SECOND;

  it.each<[string, string, number]>([
    ['lengthens the wait', '8', 8 * SECOND],
    ['an hour is an hour', '3600', HOUR],
    ['more than an hour is an hour', '3601', HOUR],
    ['nonsense that is too long', '99999999', HOUR],
    ['never shortens it', '1', plan],
    ['zero', '0', plan],
    ['negative', '-1', plan],
    ['a word', 'abc', plan],
    ['empty', '', plan],
    ['a date lengthens it', date(7 * SECOND), 7 * SECOND],
    ['a date in the past', date(-DAY), plan],
    ['a date in the far future', 'Fri, 31 Dec 9999 23:59:59 GMT', HOUR],
    ['a date of RFC 850', 'Saturday, 21-Nov-26 14:03:35 GMT', 7 * SECOND],
    ['a date of asctime', 'Sat Nov 21 14:03:35 2026', 7 * SECOND],
  ])('%s', (_, text, waitMs) => {
    expect(decide(answered(status, text), input())).toEqual(retryIn(waitMs));
  });

  it.each(PLAN)(
    'after attempt %d never shortens the wait of %d ms, and is capped at an hour',
    (attempt, plannedMs) => {
      expect(decide(answered(status, '99999999'), input({ attempt }))).toEqual(
        retryIn(Math.max(plannedMs, HOUR)),
      );
    },
  );

  it('is compared with the wait and its jitter, and the longer one is taken', () => {
    expect(decide(answered(status, '5'), input({ random: 0 }))).toEqual(retryIn(5 * SECOND));
    expect(decide(answered(status, '5'), input({ random: ALMOST_ONE }))).toEqual(retryIn(6 * SECOND));
  });

  it('adds no attempt, and none beyond the greatest age', () => {
    expect(decide(answered(status, '8'), input({ attempt: 13 }))).toEqual(EXHAUSTED);
    const firstDueAt = NOW - 8 * DAY + 6 * SECOND;
    expect(decide(answered(status, '8'), input({ firstDueAt }))).toEqual(retryIn(6 * SECOND));
  });
});

it.each([301, 400, 404, 408, 425, 500])('Retry-After on a %d is ignored', (status) => {
  expect(decide(answered(status, '9'), input())).toEqual(retryIn(5 * SECOND));
});

describe('the greatest age', () => {
  const aged = (ageMs: number, over: Partial<DecisionInput> = {}) =>
    decide(answered(500), input({ attempt: 12, firstDueAt: NOW - ageMs, ...over }));

  it('cuts the last wait: the last attempt is made exactly then', () => {
    expect(aged(8 * DAY - HOUR)).toEqual(retryIn(HOUR));
    expect(aged(8 * DAY - 1)).toEqual(retryIn(1));
    expect(aged(8 * DAY - 1, { attempt: 1 })).toEqual(retryIn(1));
  });

  it('does not lengthen a wait that ends before it', () => {
    expect(aged(8 * DAY - HOUR, { attempt: 5 })).toEqual(retryIn(30 * MINUTE));
    expect(aged(7 * DAY)).toEqual(retryIn(DAY));
    expect(aged(7 * DAY, { random: ALMOST_ONE })).toEqual(retryIn(DAY));
  });

  it('is the end, so the delivery is dead after the attempt at it', () => {
    expect(aged(8 * DAY)).toEqual(EXPIRED);
    expect(aged(8 * DAY + 10 * SECOND, { attempt: 1 })).toEqual(EXPIRED);
  });

  it('counts from when the delivery was first due, and is the operator’s', () => {
    const short = { ...schedule, maxAgeMs: 3 * SECOND };
    expect(aged(0, { attempt: 1, schedule: short })).toEqual(retryIn(3 * SECOND));
    expect(aged(3 * SECOND, { attempt: 1, schedule: short })).toEqual(EXPIRED);
  });
});

it('the default schedule has 12 waits, about 76 h in all', () => {
  const delaysMs = parseDelays(DEFAULT_RETRY_DELAYS);
  expect(delaysMs).toHaveLength(12);
  const hours = delaysMs.reduce((sum, delay) => sum + delay, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(75.5);
  expect(hours).toBeLessThan(76);
});
