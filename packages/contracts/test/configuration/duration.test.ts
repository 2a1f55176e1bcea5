import { parseDelays, parseDuration, parseLongDuration } from '../../src/configuration/duration.js';

describe('a duration as text', () => {
  it('knows ms, s, m, h and d', () => {
    expect(['250ms', '5s', '2m', '12h', '8d'].map(parseDuration)).toEqual([
      250, 5_000, 120_000, 43_200_000, 691_200_000,
    ]);
  });

  it.each(['', '5', '5 s', '-5s', '5w', '1.5h'])('%j is refused', (text) => {
    expect(() => parseDuration(text)).toThrow('expected a duration');
  });

  it('is at least a second where a shorter one has no meaning', () => {
    expect(parseLongDuration('1s')).toBe(1_000);
    expect(() => parseLongDuration('999ms')).toThrow('at least 1s');
  });
});

describe('the delays of a retry schedule as text', () => {
  it.each(['', '5', '5 s', '-5s', '5s,,6s', '5w', '8d', '0s', '9ms', Array(51).fill('1s').join(',')])(
    '%j is refused',
    (text) => {
      expect(() => parseDelays(text)).toThrow('expected');
    },
  );

  it('are 10 ms to 7 days each, so that a schedule can be divided by 100 and more', () => {
    expect(parseDelays('10ms,50ms,7d')).toEqual([10, 50, 7 * 86_400_000]);
  });
});
