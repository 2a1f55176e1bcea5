import { deriveEventId } from '@webhooks/contracts';
import type { PaymentEvent, PaymentFact } from '@webhooks/contracts';
import fc from 'fast-check';
import { TX } from './events.js';

interface TruePix {
  readonly isKnown: boolean;
  readonly amountCents: number;
  /** Reversals in parts of a thousand of the amount; together not more than the amount. */
  readonly shares: readonly number[];
  readonly failed: readonly number[];
  readonly namesTxId: boolean;
}

const pix: fc.Arbitrary<TruePix> = fc.record({
  isKnown: fc.boolean(),
  amountCents: fc.integer({ min: 1_000, max: 500_000 }),
  shares: fc.array(fc.integer({ min: 1, max: 250 }), { maxLength: 4 }),
  failed: fc.array(fc.nat(3), { maxLength: 2 }),
  namesTxId: fc.boolean(),
});

const money = (cents: number): string => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
const idOf = (prefix: string, ...numbers: number[]): string =>
  `${prefix}${numbers.join('x')}`.padEnd(32, '0');

function factsOf({ isKnown, amountCents, shares, failed, namesTxId }: TruePix, index: number): PaymentFact[] {
  const endToEndId = idOf('E', index);
  const paid: PaymentFact = {
    eventType: 'PIX_DYNAMIC_PAID',
    data: { txId: TX, endToEndId, amount: money(amountCents) },
  };
  const reversal = (share: number, at: number, status: 'DEVOLVIDO' | 'NAO_REALIZADO'): PaymentFact => ({
    eventType: 'PIX_REVERSAL',
    data: {
      endToEndId,
      reversalId: `r${at}`,
      rtrId: idOf('D', index, at),
      amount: money(Math.floor((amountCents * share) / 1_000)),
      status,
      ...(namesTxId ? { txId: TX } : {}),
    },
  });
  return [
    ...(isKnown ? [paid] : []),
    // Some were told as failed first, and settled in the end.
    ...failed.flatMap((at) => {
      const share = shares[at];
      return share === undefined ? [] : [reversal(share, at, 'NAO_REALIZADO')];
    }),
    ...shares.map((share, at) => reversal(share, at, 'DEVOLVIDO')),
  ];
}

const toEvent = (fact: PaymentFact, minute: number): PaymentEvent => ({
  id: deriveEventId('acme', fact),
  ...fact,
  tenantId: 'acme',
  occurredAt: `2026-11-21T14:${String(minute % 60).padStart(2, '0')}:00.000Z`,
});

/** Events of one charge as payment systems make them: no two contradict each other, and none gives back too much. */
export const trueEvents: fc.Arbitrary<PaymentEvent[]> = fc
  .array(pix, { minLength: 1, maxLength: 4 })
  .map((all) => all.flatMap(factsOf).map(toEvent))
  .filter((events) => events.length > 0);
