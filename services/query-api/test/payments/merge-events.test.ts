import type { PaymentEvent } from '@webhooks/contracts';
import { asTest, fixed, merge, out, paid, reversal } from './support/events.js';

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
  [
    'a fraction of zero is none, also of a second that ends with zero',
    fixed({ amount: '2.00' }, { id: 'evt_b', occurredAt: '2026-11-21T14:03:20Z' }),
    fixed({ amount: '3.00' }, { id: 'evt_a', occurredAt: '2026-11-21T14:03:20.0Z' }),
  ],
];

describe('of two contradictory events', () => {
  it.each(CONTRADICTIONS)('%s, whichever comes first', (_rule, holds, loses) => {
    const { payments, reversals } = merge([holds, loses]);
    expect([...payments, ...reversals]).toEqual([loses, holds]);
    expect(merge([loses, holds])).toEqual(merge([holds, loses]));
  });
});

describe('what a test notification told', () => {
  const test = paid({ amount: '1.00' }, { id: 'z' });

  it('is marked', () => {
    expect(merge([], [test])).toMatchObject({ test: true, payments: [asTest(test)] });
    expect(merge([paid()])).toMatchObject({ test: false });
  });

  it('gives way to the first real event', () => {
    expect(merge([paid()], [test])).toEqual(merge([paid()]));
    expect(merge([reversal()], [test]).payments).toEqual([]);
  });
});
