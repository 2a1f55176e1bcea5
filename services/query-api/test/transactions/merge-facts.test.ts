import type { PaymentEvent } from '@webhooks/contracts';
import { toFact } from '../../src/transactions/fact.js';
import { MAX_PAYMENTS, MAX_REVERSALS } from '../../src/transactions/merge-facts.js';
import { E2E, fixed, merge, mergeAll, OTHER_TX, out, paid, reversal, RTR, TX } from './support/events.js';

const LATER = '2026-11-21T15:00:00Z';

type Row = readonly [rule: string, holds: PaymentEvent, loses: PaymentEvent];

const CONTRADICTIONS: readonly Row[] = [
  [
    'DEVOLVIDO beats a later NAO_REALIZADO',
    reversal({ status: 'DEVOLVIDO' }),
    reversal({ status: 'NAO_REALIZADO' }, { occurredAt: LATER, id: 'evt_9' }),
  ],
  [
    'REALIZADO beats a later NAO_REALIZADO',
    out({ status: 'REALIZADO' }),
    out({ status: 'NAO_REALIZADO' }, { occurredAt: LATER, id: 'evt_9' }),
  ],
  [
    'the later one holds',
    paid({ amount: '2.00' }, { occurredAt: LATER }),
    paid({ amount: '3.00' }, { id: 'z' }),
  ],
  [
    'a fraction counts to the ninth digit',
    paid({ amount: '2.00' }, { occurredAt: '2026-11-21T14:03:27.000000001Z' }),
    paid({ amount: '3.00' }, { occurredAt: '2026-11-21T14:03:27Z', id: 'z' }),
  ],
  [
    'a shorter fraction is not an earlier time',
    paid({ amount: '2.00' }, { occurredAt: '2026-11-21T14:03:27.5Z' }),
    paid({ amount: '3.00' }, { occurredAt: '2026-11-21T14:03:27.499999999Z', id: 'z' }),
  ],
  [
    'at the same time the greater id holds, however the time is written',
    fixed({ amount: '2.00' }, { id: 'evt_b', occurredAt: '2026-11-21T14:03:27.5Z' }),
    fixed({ amount: '3.00' }, { id: 'evt_a', occurredAt: '2026-11-21T14:03:27.500Z' }),
  ],
  ['with the same id the greater content holds', paid({ amount: '9.00' }), paid({ amount: '8.00' })],
];

describe('of two contradictory facts', () => {
  it.each(CONTRADICTIONS)('%s, whichever comes first and how often', (_rule, holds, loses) => {
    const alone = merge(undefined, [holds]);
    expect(merge(alone, [loses])).toBe(alone);
    expect(merge(merge(undefined, [loses]), [holds])).toEqual(alone);
    expect(merge(undefined, [loses, holds, loses])).toEqual(alone);
  });

  it('both stay when they name different txIds, and each is found by its own', () => {
    const both = merge(undefined, [paid(), paid({ txId: OTHER_TX }), reversal(), reversal({ txId: TX })]);
    expect(both.payments).toHaveLength(2);
    expect(both.reversals).toHaveLength(2);
    expect(both.txIds).toEqual([TX, OTHER_TX]);
  });
});

it('keeps only what the contract lists, with money in cents', () => {
  const named = reversal({ txId: TX, reason: 'MD06', ...{ payerName: 'Maria' } });
  expect(merge(undefined, [named])).toStrictEqual({
    tenantId: 'acme',
    endToEndId: E2E,
    txIds: [TX],
    payments: [],
    reversals: [
      {
        eventId: 'evt_1',
        occurredAt: '2026-11-21T14:03:27.512Z',
        amountCents: 1_000,
        reversalId: 'r1',
        rtrId: RTR,
        status: 'DEVOLVIDO',
        txId: TX,
        reason: 'MD06',
      },
    ],
  });
});

const numbered = (at: number): string => String(at).padStart(4, '0');
const manyReversals = (count: number): PaymentEvent[] =>
  Array.from({ length: count }, (_, at) =>
    reversal({ rtrId: `D${'0'.repeat(27)}${numbered(at)}` }, { id: `evt_${numbered(at)}` }),
  );
const manyPayments = (count: number): PaymentEvent[] =>
  Array.from({ length: count }, (_, at) =>
    paid({ txId: `${'t'.repeat(26)}${numbered(at)}` }, { id: `evt_${numbered(at)}` }),
  );

describe('of too many facts', () => {
  it.each([
    ['reversals', MAX_REVERSALS, manyReversals],
    ['payments', MAX_PAYMENTS, manyPayments],
  ] as const)(
    'the greatest %s stay, in whatever order they come, and the document says so',
    (kind, max, many) => {
      const exactly = merge(undefined, many(max));
      expect(exactly).not.toHaveProperty('truncated');
      const events = many(max + 7);
      const whole = merge(undefined, events);
      expect(whole[kind]).toHaveLength(max);
      expect(whole[kind].at(-1)?.eventId).toBe('evt_0007');
      expect(whole.truncated).toBe(true);
      expect(merge(merge(undefined, events.slice(0, 90)), events.slice(90))).toEqual(whole);
      const backwards = events.toReversed();
      expect(merge(merge(undefined, backwards.slice(0, 9)), backwards.slice(9))).toEqual(whole);
      // What found no room changes nothing when it comes again.
      expect(merge(whole, events.slice(0, 3))).toBe(whole);
    },
  );

  it('it stays said', () => {
    const whole = merge(undefined, manyReversals(MAX_REVERSALS + 1));
    expect(merge(whole, [paid()]).truncated).toBe(true);
  });
});

describe('what a test notification told', () => {
  const test = toFact(paid({ amount: '1.00' }, { id: 'z' }), true);
  const real = toFact(paid());

  it('is marked', () => {
    expect(mergeAll(undefined, test)).toMatchObject({ test: true, txIds: [TX] });
    expect(mergeAll(undefined, real)).not.toHaveProperty('test');
  });

  it('gives way to the first real fact, before or after it', () => {
    const alone = mergeAll(undefined, real);
    expect(mergeAll(mergeAll(undefined, test), real)).toEqual(alone);
    expect(mergeAll(alone, test)).toBe(alone);
    expect(mergeAll(undefined, test, real, test)).toEqual(alone);
  });

  it('changes nothing when it comes again', () => {
    const alone = mergeAll(undefined, test);
    expect(mergeAll(alone, test)).toBe(alone);
  });
});
