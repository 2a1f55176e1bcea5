import { decide, park, retryAfterMs } from '../src/decide.js';
import type { Decision, Settlement } from '../src/decide.js';
import type { AttemptOutcome } from '../src/outcome.js';
import { DEFAULT_DELAYS, parseDelays, parseDuration } from '../src/schedule.js';

const NOW = 1_795_269_808_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const schedule = { delaysMs: parseDelays(DEFAULT_DELAYS), jitter: 0.2, maxAgeMs: 8 * DAY };

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

const decision = (over: Partial<Decision> = {}): Decision => ({
  attempt: 1,
  firstDueAt: NOW,
  now: NOW,
  schedule,
  random: 0.5,
  ...over,
});
const retryIn = (waitMs: number): Settlement => ({ kind: 'retry', dueAt: NOW + waitMs });

describe('decide', () => {
  it.each<[string, AttemptOutcome, Partial<Decision>, Settlement]>([
    ['a 200 ends it', answered(200), {}, { kind: 'delivered' }],
    ['a 204 ends it', answered(204), {}, { kind: 'delivered' }],
    ['a redirect is attempted again', answered(301), {}, retryIn(5 * SECOND)],
    ['a 400 is attempted again', answered(400), {}, retryIn(5 * SECOND)],
    ['a 410 is attempted again: only PUT disables', answered(410), {}, retryIn(5 * SECOND)],
    ['a 500 is attempted again', answered(500), {}, retryIn(5 * SECOND)],
    ['a time-out is attempted again', unreachable, {}, retryIn(5 * SECOND)],
    ['a denied address is attempted again', forbidden, {}, retryIn(5 * SECOND)],
    ['the second wait is 30 s', answered(500), { attempt: 2 }, retryIn(30 * SECOND)],
    ['the third is 2 m', answered(500), { attempt: 3 }, retryIn(2 * MINUTE)],
    ['the fourth is 10 m', answered(500), { attempt: 4 }, retryIn(10 * MINUTE)],
    ['the fifth is 30 m', answered(500), { attempt: 5 }, retryIn(30 * MINUTE)],
    ['then 1 h', answered(500), { attempt: 6 }, retryIn(HOUR)],
    ['then 2 h', answered(500), { attempt: 7 }, retryIn(2 * HOUR)],
    ['then 4 h', answered(500), { attempt: 8 }, retryIn(4 * HOUR)],
    ['then 8 h', answered(500), { attempt: 9 }, retryIn(8 * HOUR)],
    ['then 12 h', answered(500), { attempt: 10 }, retryIn(12 * HOUR)],
    ['then 24 h', answered(500), { attempt: 11 }, retryIn(DAY)],
    ['then 24 h again', answered(500), { attempt: 12 }, retryIn(DAY)],
    [
      'after the 13th it is dead',
      answered(500),
      { attempt: 13 },
      { kind: 'dead', reason: 'attempts-exhausted' },
    ],
    ['a 2xx at the 13th delivers', answered(200), { attempt: 13 }, { kind: 'delivered' }],
    ['jitter shortens by a fifth at most', answered(500), { random: 0 }, retryIn(4 * SECOND)],
    ['jitter lengthens by a fifth at most', answered(500), { random: 1 }, retryIn(6 * SECOND)],
    ['a 429 with Retry-After waits', answered(429, '8'), {}, retryIn(8 * SECOND)],
    ['to twice the plan at most', answered(429, '99999999'), {}, retryIn(10 * SECOND)],
    ['a 503 too', answered(503, '9'), {}, retryIn(9 * SECOND)],
    ['a shorter Retry-After changes nothing', answered(503, '1'), {}, retryIn(5 * SECOND)],
    ['a 500 cannot ask for time', answered(500, '9'), {}, retryIn(5 * SECOND)],
    [
      'a date is understood',
      answered(503, new Date(NOW + 7 * SECOND).toUTCString()),
      {},
      retryIn(7 * SECOND),
    ],
    [
      'the last wait ends at the greatest age',
      answered(500),
      { attempt: 12, firstDueAt: NOW - 8 * DAY + HOUR },
      retryIn(HOUR),
    ],
    [
      'at the greatest age it is dead',
      answered(500),
      { attempt: 5, firstDueAt: NOW - 8 * DAY },
      { kind: 'dead', reason: 'expired' },
    ],
  ])('%s', (_, outcome, over, expected) => {
    expect(decide(outcome, decision(over))).toEqual(expected);
  });
});

describe('park', () => {
  it.each<[string, number, Partial<Decision>, Settlement]>([
    ['waits 30 s at first', 0, {}, { kind: 'parked', reason: 'fault', dueAt: NOW + 30 * SECOND }],
    ['then twice as long', 1, {}, { kind: 'parked', reason: 'fault', dueAt: NOW + MINUTE }],
    ['and 30 min at most', 1_000, {}, { kind: 'parked', reason: 'fault', dueAt: NOW + 30 * MINUTE }],
    [
      'never beyond the greatest age',
      9,
      { firstDueAt: NOW - 8 * DAY + SECOND },
      { kind: 'parked', reason: 'fault', dueAt: NOW + SECOND },
    ],
    ['at which it is dead', 9, { firstDueAt: NOW - 8 * DAY }, { kind: 'dead', reason: 'expired' }],
  ])('%s', (_, parkedCount, over, expected) => {
    expect(park(parkedCount, decision(over))).toEqual(expected);
  });
});

describe('Retry-After', () => {
  it.each([
    [undefined, 0],
    ['', 0],
    ['-1', 0],
    ['1.5', 0],
    ['abc', 0],
    ['2030', 2_030_000],
    ['120', 120_000],
    ['99999999999999999999', 10 * DAY],
    [new Date(NOW - 1_000).toUTCString(), 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 10 * DAY],
    ['Mon, not a date', 0],
  ])('%s is a wait of %d ms', (text, expected) => {
    expect(retryAfterMs(text, NOW)).toBe(expected);
  });
});

describe('the schedule as text', () => {
  it('has 12 waits, about 76 h in all', () => {
    expect(schedule.delaysMs).toHaveLength(12);
    const hours = schedule.delaysMs.reduce((sum, delay) => sum + delay, 0) / HOUR;
    expect(hours).toBeGreaterThan(75.5);
    expect(hours).toBeLessThan(76);
  });

  it.each(['', '5', '5 s', '-5s', '5s,,6s', '5w', '8d', '0s', '9ms', Array(51).fill('1s').join(',')])(
    '%j is refused',
    (text) => {
      expect(() => parseDelays(text)).toThrow('expected');
    },
  );

  it('knows ms, s, m, h and d', () => {
    expect(['250ms', '5s', '2m', '12h', '8d'].map(parseDuration)).toEqual([
      250,
      5_000,
      120_000,
      12 * HOUR,
      8 * DAY,
    ]);
  });
});
