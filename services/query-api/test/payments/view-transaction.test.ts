import type { PaymentEvent } from '@webhooks/contracts';
import { viewTransaction } from '../../src/payments/view-transaction.js';
import { E2E, fixed, merge, OTHER_RTR, OTHER_TX, out, paid, reversal, RTR, TX } from './support/events.js';

const AT = '2026-11-21T14:03:27.512Z';
const REVERSAL = { reversalId: 'r1', rtrId: RTR, amount: '10.00', status: 'DEVOLVIDO' };
const KNOWN = { endToEndId: E2E, occurredAt: AT, reversals: [] };

type Row = readonly [what: string, events: readonly PaymentEvent[], answer: unknown];

const ROWS: readonly Row[] = [
  ['a paid charge', [paid()], { ...KNOWN, eventType: 'PIX_DYNAMIC_PAID', txId: TX, amount: '110.00' }],
  ['a static code without txId', [fixed()], { ...KNOWN, eventType: 'PIX_STATIC', amount: '7.05' }],
  [
    'a static code with txId',
    [fixed({ txId: 'S1' })],
    { ...KNOWN, eventType: 'PIX_STATIC', txId: 'S1', amount: '7.05' },
  ],
  [
    'an outgoing payment that failed',
    [out({ status: 'NAO_REALIZADO', reason: 'AC03', paymentId: 'p1' })],
    { ...KNOWN, eventType: 'PIX_OUT', amount: '50.00', status: 'NAO_REALIZADO' },
  ],
  ['a reversal seen first', [reversal()], { endToEndId: E2E, reversals: [REVERSAL] }],
  [
    'a reversal with all its fields',
    [reversal({ reason: 'MD06', requestedAt: AT, settledAt: AT, txId: TX })],
    { endToEndId: E2E, reversals: [{ ...REVERSAL, reason: 'MD06', requestedAt: AT, settledAt: AT }] },
  ],
  [
    'reversals from the oldest to the newest, then by rtrId',
    [
      reversal({ rtrId: OTHER_RTR }),
      reversal({ rtrId: 'D'.repeat(32) }, { occurredAt: '2026-11-21T14:03:27.4Z' }),
      reversal(),
    ],
    {
      endToEndId: E2E,
      reversals: [{ ...REVERSAL, rtrId: 'D'.repeat(32) }, REVERSAL, { ...REVERSAL, rtrId: OTHER_RTR }],
    },
  ],
  [
    'one reversal told with and without its txId',
    [reversal({ txId: TX, status: 'NAO_REALIZADO' }), reversal()],
    { endToEndId: E2E, reversals: [REVERSAL] },
  ],
  [
    'payments that contradict each other',
    [
      paid({ amount: '1.00' }),
      paid({ txId: OTHER_TX }, { id: 'evt_2' }),
      out({ status: 'NAO_REALIZADO' }, { id: 'z' }),
    ],
    { ...KNOWN, eventType: 'PIX_DYNAMIC_PAID', txId: OTHER_TX, amount: '110.00' },
  ],
];

it.each(ROWS)('%s', (_what, events, answer) => {
  for (const some of [events, events.toReversed()]) {
    const { events: named, ...view } = viewTransaction(merge(some));
    expect(view).toStrictEqual(answer);
    expect(named.toSorted()).toEqual(events.map(({ id }) => id).sort());
  }
});

it('a test notification is marked, and so is what did not find room', () => {
  const test = merge([], [paid()]);
  expect(viewTransaction(test).test).toBe(true);
  expect(viewTransaction({ ...test, truncated: true }).truncated).toBe(true);
});
