import type { PaymentEvent } from '@webhooks/contracts';
import fc from 'fast-check';
import { E2E, OTHER_E2E, OTHER_RTR, OTHER_TX, RTR, TX } from './events.js';

/** Few names, so that events meet, repeat and contradict each other. */
export const TENANTS = ['acme', 'beta'] as const;
export const END_TO_END_IDS = [E2E, OTHER_E2E, `E${'3'.repeat(31)}`] as const;
export const TX_IDS = [TX, OTHER_TX] as const;
const RTR_IDS = [RTR, OTHER_RTR, `D${'3'.repeat(31)}`] as const;
const TIMES = [
  '2026-11-21T14:03:27Z',
  '2026-11-21T14:03:27.000000000Z',
  '2026-11-21T14:03:27.000000001Z',
  '2026-11-21T14:03:27.5Z',
  '2026-11-21T14:03:27.500Z',
  '2026-11-21T14:03:27.12Z',
  '2027-01-01T00:00:00.000Z',
] as const;
const AMOUNTS = ['0.01', '1.00', '9.90', '110.10', '4.35', '9999999999.99', '0000000010.00'] as const;

const IDS = ['e1', 'e2', 'E2', 'evt_9', ...Array.from({ length: 14 }, (_, at) => `f${at}`)];

const envelope = {
  id: fc.constantFrom(...IDS),
  tenantId: fc.constantFrom(...TENANTS),
  occurredAt: fc.constantFrom(...TIMES),
};
const endToEndId = fc.constantFrom(...END_TO_END_IDS);
const amount = fc.constantFrom(...AMOUNTS);
const time = fc.constantFrom(...TIMES);
const reason = fc.constantFrom('MD06', 'AC03');

const eventOf = <T extends PaymentEvent['eventType'], D>(eventType: T, data: fc.Arbitrary<D>) =>
  fc.record({ ...envelope, eventType: fc.constant(eventType), data });

const paid = eventOf(
  'PIX_DYNAMIC_PAID',
  fc.record(
    { txId: fc.constantFrom(...TX_IDS), endToEndId, amount, paidAt: time, chargeAmount: amount },
    { requiredKeys: ['txId', 'endToEndId', 'amount'] },
  ),
);
const fixed = eventOf(
  'PIX_STATIC',
  fc.record(
    { endToEndId, amount, txId: fc.constantFrom('S1', 'S2') },
    { requiredKeys: ['endToEndId', 'amount'] },
  ),
);
const out = eventOf(
  'PIX_OUT',
  fc.record(
    {
      endToEndId,
      amount,
      status: fc.constantFrom('REALIZADO' as const, 'NAO_REALIZADO' as const),
      paymentId: fc.constantFrom('p1', 'p2'),
      reason,
    },
    { requiredKeys: ['endToEndId', 'amount', 'status'] },
  ),
);
const reversal = eventOf(
  'PIX_REVERSAL',
  fc.record(
    {
      endToEndId,
      reversalId: fc.constantFrom('r1', 'r2'),
      rtrId: fc.constantFrom(...RTR_IDS),
      amount,
      status: fc.constantFrom('DEVOLVIDO' as const, 'NAO_REALIZADO' as const),
      txId: fc.constantFrom(...TX_IDS, 'S1'),
      reason,
      requestedAt: time,
      settledAt: time,
    },
    { requiredKeys: ['endToEndId', 'reversalId', 'rtrId', 'amount', 'status'] },
  ),
);

/** Any events, contradictions and all: but of one id there is one. */
export const anyEvents: fc.Arbitrary<PaymentEvent[]> = fc.uniqueArray(
  fc.oneof(paid, fixed, out, reversal, reversal),
  { selector: ({ tenantId, id }) => `${tenantId}/${id}`, minLength: 1, maxLength: 24 },
);

export const inAnyOrder = (events: readonly PaymentEvent[]): fc.Arbitrary<PaymentEvent[]> =>
  fc.shuffledSubarray([...events], { minLength: events.length, maxLength: events.length });
