import { Breaker } from '../../src/admission/breaker.js';

const RULES = { failures: 10, firstPauseMs: 30_000, maxPauseMs: 600_000 };

/** A breaker that opened at time 0. */
function openBreaker(): Breaker {
  const breaker = new Breaker(RULES);
  for (let count = 0; count < RULES.failures; count += 1) breaker.failed(0, undefined);
  return breaker;
}

describe('a breaker', () => {
  it('opens with the tenth failure in a row, and reports it once', () => {
    const breaker = new Breaker(RULES);
    const opened = Array.from({ length: 12 }, () => breaker.failed(0, undefined));
    expect(opened.indexOf(true)).toBe(9);
    expect(opened.filter(Boolean)).toHaveLength(1);
    expect(breaker.state).toBe('open');
  });

  it('starts counting again after a success', () => {
    const breaker = new Breaker(RULES);
    for (let count = 0; count < 9; count += 1) breaker.failed(0, undefined);
    breaker.succeeded();
    for (let count = 0; count < 9; count += 1) breaker.failed(0, undefined);
    expect(breaker.isOpen).toBe(false);
    expect(breaker.failures).toBe(9);
  });

  it('lets a deferred delivery probe after 30 s, and a live one 2 s later', () => {
    expect(openBreaker().startProbe(29_999, true)).toBeUndefined();
    expect(openBreaker().startProbe(30_000, true)).toBe(1);
    expect(openBreaker().startProbe(31_999, false)).toBeUndefined();
    expect(openBreaker().startProbe(32_000, false)).toBe(1);
  });

  it('has one probe at a time', () => {
    const breaker = openBreaker();
    expect(breaker.startProbe(30_000, true)).toBe(1);
    expect(breaker.state).toBe('probing');
    expect(breaker.startProbe(90_000, true)).toBeUndefined();
    breaker.dropProbe(1);
    expect(breaker.startProbe(90_000, true)).toBe(1);
  });

  it('doubles its pause with each probe that fails, to 10 minutes', () => {
    const breaker = openBreaker();
    const pauses: number[] = [];
    for (let now = breaker.probeAt; pauses.length < 6; now = breaker.probeAt) {
      breaker.failed(now, breaker.startProbe(now, true));
      pauses.push((breaker.probeAt - now) / 1_000);
    }
    expect(pauses).toEqual([60, 120, 240, 480, 600, 600]);
  });

  it('ignores attempts that were under way when it opened', () => {
    const breaker = openBreaker();
    expect(breaker.failed(9_000, undefined)).toBe(false);
    expect(breaker.probeAt).toBe(30_000);
  });

  it('does not count a probe of an earlier opening', () => {
    const breaker = openBreaker();
    const old = breaker.startProbe(30_000, true);
    breaker.succeeded();
    for (let count = 0; count < RULES.failures; count += 1) breaker.failed(31_000, undefined);
    expect(breaker.startProbe(61_000, true)).toBe(2);
    breaker.failed(62_000, old);
    expect([breaker.probeAt, breaker.state]).toEqual([61_000, 'probing']);
    breaker.dropProbe(1);
    expect(breaker.state).toBe('probing');
  });

  it('closes with any success', () => {
    const breaker = openBreaker();
    breaker.startProbe(30_000, true);
    breaker.succeeded();
    expect([breaker.state, breaker.failures]).toEqual(['closed', 0]);
    expect(breaker.failed(30_001, undefined)).toBe(false);
  });
});
