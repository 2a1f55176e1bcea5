import { retryAfterMs } from '../src/path/decide.js';

// Saturday.
const NOW = Date.parse('2026-11-21T14:03:28.000Z');
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

describe('Retry-After', () => {
  it.each<[string, string | undefined, number]>([
    ['absent', undefined, 0],
    ['empty', '', 0],
    ['blank', '   ', 0],
    ['zero', '0', 0],
    ['seconds', '120', 120 * SECOND],
    ['seconds with spaces around', ' 120 ', 120 * SECOND],
    ['a number that looks like a year', '2030', 2_030 * SECOND],
    ['negative', '-1', 0],
    ['signed', '+1', 0],
    ['a fraction', '1.5', 0],
    ['hexadecimal', '0x10', 0],
    ['exponential', '1e3', 0],
    ['two values', '120, 60', 0],
    ['a word', 'abc', 0],
    ['very many seconds', '99999999', 10 * DAY],
    ['more seconds than a number holds', '9'.repeat(60), 10 * DAY],
    ['very long and no number', 'x'.repeat(1_000_000), 0],
    ['an IMF date', 'Sat, 21 Nov 2026 14:03:35 GMT', 7 * SECOND],
    ['an IMF date of now', 'Sat, 21 Nov 2026 14:03:28 GMT', 0],
    ['an IMF date of the past', 'Sat, 21 Nov 2026 14:03:27 GMT', 0],
    ['an IMF date of the far past', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['an IMF date of the far future', 'Fri, 31 Dec 9999 23:59:59 GMT', 10 * DAY],
    ['a leap second', 'Sat, 21 Nov 2026 14:03:60 GMT', 0],
    ['an RFC 850 date', 'Saturday, 21-Nov-26 14:03:37 GMT', 9 * SECOND],
    ['an RFC 850 date of the past', 'Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['an RFC 850 date that is 49 years old', 'Monday, 21-Nov-77 14:03:28 GMT', 0],
    ['an asctime date', 'Sat Nov 21 14:03:33 2026', 5 * SECOND],
    ['an asctime date with a one-digit day', 'Tue Dec  1 14:03:28 2026', 10 * DAY],
    ['a date without a day', 'Mon, not a date', 0],
    ['a date in another zone', 'Sat, 21 Nov 2026 14:03:35 +0000', 0],
    ['an ISO date', '2026-11-21T14:03:35Z', 0],
    ['a month that does not exist', 'Sat, 21 Nox 2036 14:03:35 GMT', 0],
    ['a day that does not exist: the next one', 'Sat, 31 Nov 2026 14:03:35 GMT', 10 * DAY],
    ['an hour that does not exist', 'Sat, 21 Nov 2026 24:03:35 GMT', 0],
  ])('%s', (_, text, expected) => {
    expect(retryAfterMs(text, NOW)).toBe(expected);
  });

  it('does not depend on the machine’s time zone', () => {
    const zone = process.env['TZ'];
    process.env['TZ'] = 'America/Sao_Paulo';
    try {
      expect(retryAfterMs('Sat Nov 21 14:03:33 2026', NOW)).toBe(5 * SECOND);
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });
});
