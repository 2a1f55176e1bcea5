import type { PaymentEvent } from '@webhooks/contracts';
import fc from 'fast-check';
import { keyOf, toRow } from '../../src/payments/event-store.js';
import { mergeRows } from '../../src/payments/find-events.js';
import { viewCharge, viewTransaction } from '../../src/payments/view-transaction.js';
import { TX } from './support/events.js';
import { anyEvents, END_TO_END_IDS, inAnyOrder, TENANTS, TX_IDS } from './support/histories.js';
import { cents, modelCharge, modelTransaction } from './support/model.js';
import { trueEvents } from './support/true-history.js';

const CAN_BE_SENT = { heardAt: new Date(0) };

/** What the queries find of these events, without a database. */
function read(events: readonly PaymentEvent[]) {
  const rows = events.map((event) => toRow(event, CAN_BE_SENT));
  const ofPix = (keys: ReadonlySet<string>) => mergeRows(rows.filter(({ pix }) => keys.has(pix)));
  return {
    transaction: (tenantId: string, endToEndId: string) => {
      const [found] = ofPix(new Set([keyOf(tenantId, endToEndId)]));
      return found && viewTransaction(found);
    },
    charge: (tenantId: string, txId: string) => {
      const naming = rows.filter(({ charge }) => charge === keyOf(tenantId, txId));
      return viewCharge(txId, ofPix(new Set(naming.map(({ pix }) => pix))));
    },
  };
}

/** A txId that the charge query takes: those of static codes are shorter. */
const dynamicTxIdOf = (data: PaymentEvent['data']): string | undefined =>
  TX_IDS.find((txId) => 'txId' in data && data.txId === txId);

type Query = (tenantId: string, id: string) => unknown;

/** The answers to every query that there is in these histories. */
const answers = (transaction: Query, charge: Query): unknown[] =>
  TENANTS.map((tenantId) => ({
    transactions: END_TO_END_IDS.map((id) => transaction(tenantId, id) ?? 'unknown'),
    charges: TX_IDS.map((id) => charge(tenantId, id) ?? 'unknown'),
  }));

const modelAnswers = (events: readonly PaymentEvent[]): unknown[] =>
  answers(
    (tenantId, id) => modelTransaction(events, tenantId, id),
    (tenantId, id) => modelCharge(events, tenantId, id),
  );

const property = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => void, numRuns: number) =>
  fc.assert(fc.property(arbitrary, check), { numRuns });

it('any order of any events gives the responses of the plain model', () => {
  const seen = new Map<unknown, number>();
  property(
    anyEvents.chain((events) => fc.tuple(fc.constant(events), inAnyOrder(events))),
    ([events, coming]) => {
      const { transaction, charge } = read(coming);
      expect(answers(transaction, charge)).toStrictEqual(modelAnswers(events));
      const status = charge('acme', TX)?.status;
      seen.set(status, (seen.get(status) ?? 0) + 1);
    },
    2_500,
  );
  // Histories in which no event ever met another would prove little.
  for (const status of ['CONCLUIDA', 'ATIVA', undefined]) expect(seen.get(status)).toBeGreaterThan(100);
});

it('each identifier of an event resolves for its own tenant, and for no tenant that has no such event', () => {
  property(
    anyEvents,
    (events) => {
      const mine = events.filter(({ tenantId }) => tenantId === 'acme');
      const { transaction, charge } = read(mine);
      for (const { data } of mine) {
        expect(transaction('acme', data.endToEndId)).toBeDefined();
        expect(transaction('beta', data.endToEndId)).toBeUndefined();
        const txId = dynamicTxIdOf(data);
        if (txId === undefined) continue;
        expect(charge('acme', txId)).toBeDefined();
        expect(charge('beta', txId)).toBeUndefined();
      }
    },
    300,
  );
});

type ChargePix = NonNullable<ReturnType<typeof viewCharge>>['pix'][number];

function expectTruePix(pix: ChargePix): void {
  expect(pix.txId).toBe(TX);
  const settled = pix.reversals.filter(({ status }) => status === 'DEVOLVIDO');
  // Each was settled in the end, whatever was told of it before.
  expect(settled).toHaveLength(pix.reversals.length);
  const sum = settled.reduce((total, { amount }) => total + cents(amount), 0n);
  if (pix.amount !== undefined) expect(sum <= cents(pix.amount)).toBe(true);
}

it('a charge whose events are true is CONCLUIDA by a payment, and gives back at most what each Pix paid', () => {
  property(
    trueEvents.chain(inAnyOrder),
    (events) => {
      const payments = events.filter(({ eventType }) => eventType === 'PIX_DYNAMIC_PAID');
      const charge = read(events).charge('acme', TX);
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
