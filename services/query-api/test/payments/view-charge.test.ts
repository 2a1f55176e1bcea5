import type { PaymentEvent } from '@webhooks/contracts';
import { viewCharge } from '../../src/payments/view-transaction.js';
import {
  E2E,
  fixed,
  merge,
  OTHER_E2E,
  OTHER_RTR,
  OTHER_TX,
  out,
  paid,
  reversal,
  RTR,
  TX,
} from './support/events.js';

const AT = '2026-11-21T14:03:27.512Z';
const EARLIER = '2026-11-20T10:00:00Z';
const LATER = '2026-11-22T10:00:00Z';
const REVERSAL = { reversalId: 'r1', rtrId: RTR, amount: '10.00', status: 'DEVOLVIDO' };
const PIX = { endToEndId: E2E, txId: TX, amount: '110.00', paidAt: AT, reversals: [] };
const OTHER_PIX = { ...PIX, endToEndId: OTHER_E2E };
const other = { endToEndId: OTHER_E2E };

type Row = readonly [what: string, events: readonly PaymentEvent[], answer: unknown];

const concluded = (amount: string, ...pix: unknown[]) => ({ txId: TX, status: 'CONCLUIDA', amount, pix });

const ROWS: readonly Row[] = [
  ['one payment', [paid()], concluded('110.00', PIX)],
  ['its own time of payment', [paid({ paidAt: EARLIER })], concluded('110.00', { ...PIX, paidAt: EARLIER })],
  ['the amount of the charge', [paid({ chargeAmount: '109.90' })], concluded('109.90', PIX)],
  ['the sum of two payments', [paid(), paid(other)], concluded('220.00', PIX, OTHER_PIX)],
  [
    'the oldest payment first',
    [paid(), paid({ ...other, paidAt: EARLIER })],
    concluded('220.00', { ...OTHER_PIX, paidAt: EARLIER }, PIX),
  ],
  [
    'the amount of the charge as the newest payment with one tells it',
    [
      paid({ chargeAmount: '1.00' }, { occurredAt: EARLIER, id: 'z' }),
      paid({ ...other, chargeAmount: '2.00' }),
      paid({ endToEndId: 'E'.repeat(32) }, { id: 'zz' }),
    ],
    concluded('2.00', { ...PIX, paidAt: EARLIER }, OTHER_PIX, { ...PIX, endToEndId: 'E'.repeat(32) }),
  ],
  [
    'a reversal seen first',
    [reversal({ txId: TX })],
    { txId: TX, status: 'ATIVA', pix: [{ endToEndId: E2E, txId: TX, reversals: [REVERSAL] }] },
  ],
  [
    'a Pix that only a reversal tells of comes last',
    [paid({ endToEndId: 'F'.repeat(32) }), reversal({ txId: TX })],
    concluded(
      '110.00',
      { ...PIX, endToEndId: 'F'.repeat(32) },
      { endToEndId: E2E, txId: TX, reversals: [REVERSAL] },
    ),
  ],
  [
    'reversals that name the charge or none, each once',
    [
      paid(),
      reversal(),
      reversal({ txId: TX, status: 'NAO_REALIZADO' }),
      reversal({ rtrId: OTHER_RTR, txId: OTHER_TX }),
    ],
    concluded('110.00', { ...PIX, reversals: [REVERSAL] }),
  ],
  [
    'a reversal without txId of a Pix that did not pay this charge is left out',
    [reversal({ txId: TX }), reversal({ rtrId: OTHER_RTR })],
    { txId: TX, status: 'ATIVA', pix: [{ endToEndId: E2E, txId: TX, reversals: [REVERSAL] }] },
  ],
  [
    'a payment that a later one of another charge corrects',
    [paid(), paid({ txId: OTHER_TX }, { occurredAt: LATER, id: 'z' }), reversal()],
    { txId: TX, status: 'ATIVA', pix: [{ endToEndId: E2E, txId: TX, reversals: [] }] },
  ],
  [
    'a payment that corrects an earlier one of another charge',
    [paid(), paid({ txId: OTHER_TX }, { occurredAt: EARLIER, id: 'z' })],
    concluded('110.00', PIX),
  ],
  [
    'a payment that a later one without a charge corrects',
    [paid(), fixed({}, { occurredAt: LATER })],
    { txId: TX, status: 'ATIVA', pix: [{ endToEndId: E2E, txId: TX, reversals: [] }] },
  ],
  [
    'a payment by the tenant itself, which is outgoing, too',
    [paid(), out({}, { occurredAt: LATER })],
    concluded('110.00', PIX),
  ],
  ['nothing of this charge', [paid({ txId: OTHER_TX }), fixed(), reversal()], undefined],
];

const documentsOf = (events: readonly PaymentEvent[]) =>
  [...Map.groupBy(events, ({ data }) => data.endToEndId).values()].map((some) => merge(some));

/** Without the names of its events. */
function view(events: readonly PaymentEvent[]): unknown {
  const charge = viewCharge(TX, documentsOf(events));
  return charge && { ...charge, pix: charge.pix.map(({ events: _named, ...pix }) => pix) };
}

it.each(ROWS)('%s', (_what, events, answer) => {
  expect(view(events)).toStrictEqual(answer);
  expect(view(events.toReversed())).toStrictEqual(answer);
});

it('names the events of each Pix of the charge, and no other', () => {
  const foreign = reversal({ rtrId: OTHER_RTR, txId: OTHER_TX }, { id: 'foreign' });
  const [first, again] = [paid({}, { id: 'p1' }), paid({ amount: '1.00' }, { id: 'p2' })];
  const events = [foreign, reversal({}, { id: 'r' }), again, paid(other, { id: 'o' }), first];
  expect(viewCharge(TX, documentsOf(events))?.pix.map(({ events: named }) => named)).toEqual([
    ['p1', 'p2', 'r'],
    ['o'],
  ]);
});

it('nothing known is undefined', () => {
  expect(viewCharge(TX, [])).toBeUndefined();
});

it('test events are marked, and left out when a real event is known', () => {
  const test = merge([], [paid(other)]);
  expect(viewCharge(TX, [test])).toMatchObject({ test: true, status: 'CONCLUIDA' });
  expect(viewCharge(TX, [test, merge([paid()])])).toMatchObject(concluded('110.00', PIX));
});

it('marks a response that does not have all events', () => {
  expect(viewCharge(TX, [merge([paid()])])).not.toHaveProperty('truncated');
  const cut = viewCharge(TX, [merge([paid(other)]), { ...merge([paid()]), truncated: true }]);
  expect(cut).toMatchObject({ status: 'CONCLUIDA', truncated: true });
  // Some payments are not known, so neither is the sum nor what the newest says.
  expect(cut).not.toHaveProperty('amount');
});
