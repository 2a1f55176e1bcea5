import { parseDelays } from '@webhooks/contracts';
import { DEFAULT_DELAYS } from '../src/path/decide.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const delaysMs = parseDelays(DEFAULT_DELAYS);

describe('the schedule as text', () => {
  it('has 12 waits, about 76 h in all', () => {
    expect(delaysMs).toHaveLength(12);
    const hours = delaysMs.reduce((sum, delay) => sum + delay, 0) / HOUR;
    expect(hours).toBeGreaterThan(75.5);
    expect(hours).toBeLessThan(76);
  });

  it.each(['', '5', '5 s', '-5s', '5s,,6s', '5w', '8d', '0s', '9ms', Array(51).fill('1s').join(',')])(
    '%j is refused',
    (text) => {
      expect(() => parseDelays(text)).toThrow('expected');
    },
  );

  it('takes delays from 10 ms to 7 days, so that a schedule can be divided by 100 and more', () => {
    expect(parseDelays('10ms,50ms,7d')).toEqual([10, 50, 7 * DAY]);
  });
});
