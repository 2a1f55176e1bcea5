import type { PaymentEvent } from '@webhooks/contracts';
import fc from 'fast-check';
import { viewCharge } from '../../src/transactions/view-charge.js';
import type { ChargePixView } from '../../src/transactions/view-charge.js';
import { viewTransaction } from '../../src/transactions/view-transaction.js';
import { TX } from './support/events.js';
import { anyEvents, END_TO_END_IDS, historyOf, TENANTS, TX_IDS } from './support/histories.js';
import type { MemoryStore } from './support/memory-store.js';
import { cents, modelCharge, modelTransaction } from './support/model.js';
import { play, replay } from './support/play.js';
import { trueEvents } from './support/true-history.js';

const transactionOf = (store: MemoryStore, tenantId: string, endToEndId: string): unknown => {
  const found = store.find(tenantId, endToEndId);
  return found && viewTransaction(found);
};
const chargeOf = (store: MemoryStore, tenantId: string, txId: string) =>
  viewCharge(txId, store.findOfCharge(tenantId, txId));

/** A txId that the charge query takes: those of static codes are shorter. */
const dynamicTxIdOf = (data: PaymentEvent['data']): string | undefined =>
  TX_IDS.find((txId) => 'txId' in data && data.txId === txId);

/** The answers to every query that there is in these histories. */
const answers = (
  transaction: (tenantId: string, endToEndId: string) => unknown,
  charge: (tenantId: string, txId: string) => unknown,
): unknown[] =>
  TENANTS.map((tenantId) => ({
    transactions: END_TO_END_IDS.map((id) => transaction(tenantId, id) ?? 'unknown'),
    charges: TX_IDS.map((id) => charge(tenantId, id) ?? 'unknown'),
  }));

const answersOf = (store: MemoryStore): unknown[] =>
  answers(
    (tenantId, id) => transactionOf(store, tenantId, id),
    (tenantId, id) => chargeOf(store, tenantId, id),
  );
const modelAnswers = (events: readonly PaymentEvent[]): unknown[] =>
  answers(
    (tenantId, id) => modelTransaction(events, tenantId, id),
    (tenantId, id) => modelCharge(events, tenantId, id),
  );

const property = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => Promise<void>, numRuns: number) =>
  fc.assert(fc.asyncProperty(arbitrary, check), { numRuns });

it('any order, repetition, division and interleaving of any events gives the answers of the plain model', async () => {
  let lost = 0;
  const seen = new Map<unknown, number>();
  await property(
    historyOf(anyEvents),
    async (history) => {
      const store = await play(history);
      expect(answersOf(store)).toStrictEqual(modelAnswers(history.events));
      const written = store.written();
      lost += store.lost();
      await replay(history, store);
      expect(store.written()).toBe(written);
      const status = chargeOf(store, 'acme', TX)?.status;
      seen.set(status, (seen.get(status) ?? 0) + 1);
    },
    2_500,
  );
  // Histories in which nobody ever met anybody would prove little.
  expect(lost).toBeGreaterThan(1_000);
  for (const status of ['CONCLUIDA', 'ATIVA', undefined]) expect(seen.get(status)).toBeGreaterThan(100);
});

it('each identifier of an event resolves for its own tenant, and for no tenant that has no such event', async () => {
  await property(
    historyOf(anyEvents),
    async (history) => {
      const mine = history.events.filter(({ tenantId }) => tenantId === 'acme');
      fc.pre(mine.length > 0);
      const order = [...mine.keys()];
      const store = await play({ events: mine, delivery: { ...history.delivery, order, repeats: [] } });
      for (const { data } of mine) {
        expect(transactionOf(store, 'acme', data.endToEndId)).toBeDefined();
        expect(transactionOf(store, 'beta', data.endToEndId)).toBeUndefined();
        const txId = dynamicTxIdOf(data);
        if (txId === undefined) continue;
        expect(chargeOf(store, 'acme', txId)).toBeDefined();
        expect(chargeOf(store, 'beta', txId)).toBeUndefined();
      }
    },
    300,
  );
});

function expectTruePix(pix: ChargePixView): void {
  expect(pix.txId).toBe(TX);
  const settled = pix.reversals.filter(({ status }) => status === 'DEVOLVIDO');
  // Each was settled in the end, whatever was told of it before.
  expect(settled).toHaveLength(pix.reversals.length);
  const sum = settled.reduce((total, { amount }) => total + cents(amount), 0n);
  if (pix.amount !== undefined) expect(sum <= cents(pix.amount)).toBe(true);
}

it('a charge whose events are true is CONCLUIDA by a payment, and gives back at most what each Pix paid', async () => {
  await property(
    historyOf(trueEvents),
    async (history) => {
      const payments = history.events.filter(({ eventType }) => eventType === 'PIX_DYNAMIC_PAID');
      const charge = chargeOf(await play(history), 'acme', TX);
      expect(charge?.status === 'CONCLUIDA').toBe(payments.length > 0);
      const pix = charge?.pix ?? [];
      expect(pix.filter(({ amount }) => amount !== undefined)).toHaveLength(payments.length);
      pix.forEach(expectTruePix);
    },
    1_000,
  );
});

it('the same business fact has the same event id, and another fact another one', () => {
  fc.assert(
    fc.property(trueEvents, (events) => {
      const facts = new Map<string, string>();
      for (const { id, eventType, data } of events) {
        const fact = JSON.stringify([eventType, data]);
        expect(facts.get(id) ?? fact).toBe(fact);
        facts.set(id, fact);
      }
      expect(new Set(facts.values()).size).toBe(facts.size);
    }),
    { numRuns: 300 },
  );
});
