import { AppError } from '../../src/index.js';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from '../../src/limits/shared-budget.js';

const caller = (tenantId: string, scope = 'write') => ({ tenantId, scopes: new Set([scope]) });

/** Enters until it is refused: what ends each, and what was at its bound. */
function fill(
  open: ConcurrencyLimiter,
  who: ReturnType<typeof caller>,
): { ends: (() => void)[]; why: string | undefined } {
  const ends: (() => void)[] = [];
  for (let tries = 0; tries <= 1_000; tries += 1) {
    try {
      ends.push(open.enter(who));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect([error.code, error.headers['retry-after']]).toEqual(['too-many-requests', '1']);
      return { ends, why: error.shed?.reason };
    }
  }
  throw new Error('nothing was refused');
}

describe('the requests under way', () => {
  it('are half for one tenant alone, and others are admitted', () => {
    const open = createConcurrencyLimiter({ total: 120 });
    expect(fill(open, caller('a'))).toMatchObject({ ends: { length: 60 }, why: 'tenant-share' });
    expect(fill(open, caller('b')).ends).toHaveLength(30);
    expect(fill(open, caller('c')).ends).toHaveLength(15);
  });

  it('free capacity when they end', () => {
    const open = createConcurrencyLimiter({ total: 10 });
    const first = fill(open, caller('a'));
    for (const end of first.ends) end();
    expect(fill(open, caller('b')).ends).toHaveLength(5);
    expect(fill(open, caller('a')).ends).toHaveLength(3);
  });

  it('may all be held by the operator’s own tokens, and then nobody is admitted', () => {
    const open = createConcurrencyLimiter({ total: 10, exemptScope: 'own' });
    const own = fill(open, caller('a', 'own'));
    expect(own).toMatchObject({ ends: { length: 10 }, why: 'open-requests' });
    expect(fill(open, caller('b'))).toMatchObject({ ends: { length: 0 }, why: 'open-requests' });
    own.ends[0]?.();
    expect(fill(open, caller('a')).ends).toHaveLength(1);
  });

  it('have a fixed maximum for one tenant, however many are free', () => {
    const open = createConcurrencyLimiter({ total: 120, perTenant: 10 });
    expect(fill(open, caller('a'))).toMatchObject({ ends: { length: 10 }, why: 'tenant-share' });
    expect(fill(open, caller('b')).ends).toHaveLength(10);
  });

  it('admit at least one', () => {
    expect(fill(createConcurrencyLimiter({ total: 1 }), caller('a'))).toMatchObject({
      ends: { length: 1 },
      why: 'open-requests',
    });
  });
});
