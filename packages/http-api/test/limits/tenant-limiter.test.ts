import { AppError, createTenantLimiter } from '../../src/index.js';
import type { RateLimit, TenantLimiter } from '../../src/index.js';

let at: number;
beforeEach(() => {
  at = 1_000_000;
});

const limiterOf = (limit: RateLimit): TenantLimiter =>
  createTenantLimiter({ limit, counted: 'events', exemptScope: 'own', now: () => at });

const caller = (tenantId: string, scope = 'write') => ({ tenantId, scopes: new Set([scope]) });

/** `Retry-After` of the refusal, undefined when there was none. */
function refusalOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'too-many-requests') throw error;
    return error.headers['retry-after'];
  }
}
const take = (limiter: TenantLimiter, count = 1, who = caller('acme')): string | undefined =>
  refusalOf(() => limiter.take(who, count));

describe('a limit for each tenant', () => {
  it('allows the burst at once, then the rate', () => {
    const limiter = limiterOf({ perSecond: 10, burst: 30 });
    const asked = Array.from({ length: 31 }, () => take(limiter));
    expect(asked).toEqual([...Array<undefined>(30).fill(undefined), '1']);
    at += 100;
    expect([take(limiter), take(limiter)]).toEqual([undefined, '1']);
    at += 1_000;
    const second = Array.from({ length: 11 }, () => take(limiter));
    expect(second.filter((refusal) => refusal === undefined)).toHaveLength(10);
    at += 1_000_000;
    const later = Array.from({ length: 40 }, () => take(limiter));
    expect(later.filter((refusal) => refusal === undefined)).toHaveLength(30);
  });

  it('refuses more than is left, takes nothing for it, and says when to try again', () => {
    const limiter = limiterOf({ perSecond: 100, burst: 1_000 });
    expect(take(limiter, 600)).toBeUndefined();
    expect(take(limiter, 900)).toBe('5');
    expect(take(limiter, 400)).toBeUndefined();
    expect(take(limiter, 1_000)).toBe('10');
    at += 9_999;
    expect(take(limiter, 1_000)).toBe('1');
    at += 1;
    expect(take(limiter, 1_000)).toBeUndefined();
  });

  it('refuses before anything is counted when nothing is left', () => {
    const limiter = limiterOf({ perSecond: 1, burst: 2 });
    const check = (): string | undefined => refusalOf(() => limiter.check(caller('acme')));
    expect([check(), check(), check()]).toEqual([undefined, undefined, undefined]);
    take(limiter, 2);
    expect(check()).toBe('1');
    at += 1_000;
    expect([check(), check()]).toEqual([undefined, undefined]);
  });

  it('does not count other tenants or the operator’s own tokens', () => {
    const limiter = limiterOf({ perSecond: 1, burst: 1 });
    expect([take(limiter), take(limiter)]).toEqual([undefined, '1']);
    expect(take(limiter, 1, caller('globex'))).toBeUndefined();
    expect(take(limiter, 1_000, caller('acme', 'own'))).toBeUndefined();
    expect(refusalOf(() => limiter.check(caller('acme', 'own')))).toBeUndefined();
  });

  it('is unlimited for a rate of 0', () => {
    const limiter = limiterOf({ perSecond: 0, burst: 1 });
    expect(take(limiter, 1_000_000)).toBeUndefined();
    expect(take(limiter, 1_000_000)).toBeUndefined();
  });

  it('remembers the 10,000 tenants that were seen last', () => {
    const limiter = limiterOf({ perSecond: 1, burst: 1 });
    take(limiter);
    for (let other = 1; other < 10_000; other += 1) take(limiter, 1, caller(`tenant-${other}`));
    expect(take(limiter)).toBe('1');
    for (let other = 1; other <= 10_000; other += 1) take(limiter, 1, caller(`another-${other}`));
    expect(take(limiter)).toBeUndefined();
  });
});
