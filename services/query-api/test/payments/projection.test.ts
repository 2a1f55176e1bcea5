import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { PaymentEvent } from '@webhooks/contracts';
import type { ApiRequest } from '@webhooks/http-api';
import type { KafkaRecord } from '@webhooks/kafka';
import { eventually, randomName } from '@webhooks/testkit';
import fc from 'fast-check';
import type { Database } from '../../src/database.js';
import { composePayments } from '../../src/payments/compose.js';
import { findByIds, storeTestEvent, keyOf } from '../../src/payments/event-store.js';
import { findByKeyOf, findOfCharge, MAX_EVENTS, mergeRows } from '../../src/payments/find-events.js';
import { viewCharge, viewTransaction } from '../../src/payments/view-transaction.js';
import {
  E2E,
  eventRecord,
  merge,
  OTHER_E2E,
  OTHER_TX,
  paid,
  recordOf,
  reversal,
  TX,
} from './support/events.js';
import { anyEvents, END_TO_END_IDS, inAnyOrder, TX_IDS } from './support/histories.js';
import { modelCharge, modelTransaction } from './support/model.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const name = randomName('query_projection');
const MS = 30_000;
let first: TestDatabase;
let second: TestDatabase;
let tenantId: string;
beforeAll(async () => {
  first = await openTestDatabase(name);
  second = await openTestDatabase(name);
});
beforeEach(() => {
  tenantId = randomName('tenant');
});
afterAll(async () => {
  await first.close();
  await second.close();
});

const within = () => first.database.within(MS);
const [byPix, byCharge] = [findByKeyOf('pix', within), findByKeyOf('charge', within)];
const findTransaction = async (...pix: Parameters<typeof keyOf>) =>
  mergeRows(await byPix([keyOf(...pix)]))[0];
const findCharge = async (...charge: Parameters<typeof keyOf>) =>
  mergeRows(await findOfCharge(byPix, await byCharge([keyOf(...charge)])));
const composeOn = (database: Database) =>
  composePayments({
    ...{ database, catchUp: () => undefined },
    ...{ retentionMs: 1, waiting: { total: 1, perTenant: 1 } },
    lists: createConcurrencyLimiter({ total: 8 }),
  });
const projectionOn = (database: Database) => composeOn(database).projection;

const project = async (database: Database, events: readonly PaymentEvent[], batch: number): Promise<void> => {
  const records = events.map((event) => eventRecord(event));
  const { apply } = projectionOn(database);
  while (records.length > 0) await apply(records.splice(0, batch));
};

/** The answers to every query that there is about these tenants. */
async function answersOf(tenants: readonly string[]): Promise<unknown[]> {
  const ofTenant = async (tenant: string) => ({
    transactions: await Promise.all(
      END_TO_END_IDS.map(async (id) => {
        const found = await findTransaction(tenant, id);
        return found && viewTransaction(found);
      }),
    ),
    charges: await Promise.all(TX_IDS.map(async (id) => viewCharge(id, await findCharge(tenant, id)))),
  });
  return Promise.all(tenants.map(ofTenant));
}

const modelOf = (events: readonly PaymentEvent[], tenants: readonly string[]): unknown[] =>
  tenants.map((tenant) => ({
    transactions: END_TO_END_IDS.map((id) => modelTransaction(events, tenant, id)),
    charges: TX_IDS.map((id) => modelCharge(events, tenant, id)),
  }));

it('instances that read the same events at the same time give the responses of the plain model', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyEvents.chain((events) => fc.tuple(inAnyOrder(events), inAnyOrder(events))),
      fc.nat(24),
      async ([one, other], cut) => {
        const world = randomName('');
        const inWorld = (event: PaymentEvent) => ({ ...event, tenantId: event.tenantId + world });
        const tenants = [`acme${world}`, `beta${world}`];
        const events = one.map(inWorld);
        await Promise.all([
          project(first.database, events, 2),
          project(second.database, other.map(inWorld).slice(0, cut), 5),
          project(second.database, events.slice(cut), 100),
        ]);
        expect(await answersOf(tenants)).toStrictEqual(modelOf(events, tenants));
      },
    ),
    { numRuns: 25 },
  );
});

it('a batch of new events is one insert, of one Pix or many; one update more looks for those that are known and have no place', async () => {
  const events = [E2E, OTHER_E2E].flatMap((endToEndId) => [
    paid({ endToEndId }, { tenantId, id: `p${endToEndId}` }),
    reversal({ endToEndId }, { tenantId, id: `r${endToEndId}` }),
  ]);
  const [payment, refund, ...others] = events.map((event) => eventRecord(event));
  if (!payment || !refund) throw new Error('expected records');
  const { apply } = projectionOn(first.database);
  const commands: string[] = [];
  first.onCommand(({ command }) => {
    const [name = ''] = Object.keys(command);
    if (command[name] === 'events' && JSON.stringify(command).includes(tenantId)) commands.push(name);
  });
  await apply([payment]);
  await apply([refund, payment, payment]);
  await apply([...others, refund]);
  await apply([payment, refund, ...others]);
  const known = ['insert', 'update', 'find'];
  expect(commands).toEqual(['insert', ...known, ...known, ...known]);
});

it('requests of several tenants are looked up by one statement, and each gets its own events', async () => {
  const other = randomName('tenant');
  await project(first.database, [paid({}, { tenantId }), reversal({}, { tenantId: other, id: 'evt_r' })], 2);
  let statements = 0;
  const find = findByKeyOf('pix', () => (statement) => {
    statements += 1;
    return within()(statement);
  });
  const found = await Promise.all([tenantId, other, 'none'].map((tenant) => find([keyOf(tenant, E2E)])));
  expect(found.map((rows) => rows.map((row) => row.tenantId))).toEqual([[tenantId], [other], []]);
  expect(statements).toBe(1);

  const heavy = Array.from({ length: MAX_EVENTS }, (_, at) => reversal({}, { tenantId, id: `r${at}` }));
  await project(first.database, heavy, MAX_EVENTS);
  const requests = [[tenantId, E2E], [other, E2E], [other, OTHER_E2E]] as const; // prettier-ignore
  const again = await Promise.all(requests.map((request) => find([keyOf(...request)])));
  expect(again.map(({ length }) => length)).toEqual([MAX_EVENTS + 1, 1, 0]);
  // Together, which gave too many; then one for each tenant.
  expect(statements).toBe(1 + 3);
});

it('one lookup runs at a time, and the next one serves all requests that came meanwhile, even after a failed one', async () => {
  await project(first.database, [paid({}, { tenantId })], 1);
  const silent = Promise.withResolvers<never>();
  const begun: number[] = [];
  const find = findByKeyOf('pix', () => (statement) => {
    begun.push(performance.now());
    return begun.length === 1 ? silent.promise : within()(statement);
  });
  const held = find([keyOf(tenantId, E2E)]);
  await eventually(() => begun.length === 1);
  const next = [E2E, OTHER_E2E].map((id) => find([keyOf(tenantId, id)]));
  await new Promise(setImmediate);
  expect(begun).toHaveLength(1);
  silent.reject(new Error('the statement took too long'));
  await expect(held).rejects.toThrow('too long');
  expect((await Promise.all(next)).map(({ length }) => length)).toEqual([1, 0]);
  expect(begun).toHaveLength(2);
});

it('requests of one tenant that exceed a statement are split, and the rest is left to the next lookup', async () => {
  const other = randomName('tenant');
  await project(first.database, [paid({}, { tenantId: other })], 1);
  const ids = Array.from({ length: 4 }, (_, at) => `${E2E.slice(0, -1)}${at}`);
  const events = ids.flatMap((endToEndId, pix) =>
    Array.from({ length: 400 }, (_, at) => reversal({ endToEndId }, { tenantId, id: `r${pix}_${at}` })),
  );
  await project(first.database, events, MAX_EVENTS / 2);
  let running = 0;
  let most = 0;
  const find = findByKeyOf('pix', () => async (statement) => {
    running += 1;
    most = Math.max(most, running);
    return within()(statement).finally(() => (running -= 1));
  });
  const requests = [...ids.map((id) => keyOf(tenantId, id)), keyOf(other, E2E)];
  const found = await Promise.all(requests.map((key) => find([key])));
  expect(found.map(({ length }) => length)).toEqual([400, 400, 400, 400, 1]);
  // One for each tenant, and never the four of one tenant at once.
  expect(most).toBe(2);
});

it('of events with one id the first stays, for queries and for redeliveries', async () => {
  const told = paid({ amount: '1.00' }, { tenantId });
  const later = paid({ amount: '2.00' }, { tenantId, occurredAt: '2026-11-22T00:00:00Z' });
  await projectionOn(first.database).apply([told, later].map((event) => eventRecord(event)));
  await projectionOn(second.database).apply([eventRecord(later)]);
  expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge([told]));
  const rows = await findByIds(within(), tenantId, [told.id]);
  expect(rows.get(told.id)?.body.toString()).toContain('"1.00"');
});

it('another instance completes the writes of one whose connection was cut', async () => {
  const events = Array.from({ length: 150 }, (_, at) => reversal({}, { tenantId, id: `r${at}` }));
  const third = await openTestDatabase(name);
  const cut = project(third.database, events, 150).catch((error: unknown) => error);
  await third.close();
  await cut;
  await project(second.database, events, 150);
  expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge(events));
});

it('records that cannot be read are passed over, and the others of the batch are written', async () => {
  const event = paid({}, { tenantId });
  const unreadable: KafkaRecord[] = [
    recordOf(null),
    recordOf(Buffer.from('{')),
    recordOf(Buffer.from('{"eventType":"PIX_NEW"}')),
    eventRecord(reversal({}, { tenantId, id: 'evt_r' }), { undecodable: 'an unknown codec' }),
  ];
  const { apply } = projectionOn(first.database);
  await apply([...unreadable, eventRecord(event), ...unreadable]);
  await apply(unreadable);
  await apply([]);
  expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge([event]));
});

it.each([
  ['a test notification', (event: PaymentEvent) => storeTestEvent(within(), event)],
  [
    'a posted test event',
    (event: PaymentEvent) => projectionOn(first.database).apply([eventRecord(event, { offset: 7 })]),
  ],
])('%s resolves to a record that is marked, until a real one replaces it', async (_what, report) => {
  await report(paid({}, { tenantId, id: 'evt_test_1' }));
  const found = await findTransaction(tenantId, E2E);
  expect(found && viewTransaction(found)).toMatchObject({ test: true, txId: TX });
  expect(viewCharge(TX, await findCharge(tenantId, TX))).toMatchObject({ test: true });
  const real = reversal({}, { tenantId });
  await projectionOn(first.database).apply([eventRecord(real)]);
  expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge([real]));
  expect(viewCharge(TX, await findCharge(tenantId, TX))).toBeUndefined();
});

it('a test event that names a payment and another charge changes neither', async () => {
  const { apply } = projectionOn(first.database);
  const real = paid({}, { tenantId });
  await apply([eventRecord(real)]);
  const later = { tenantId, id: 'evt_test_1', occurredAt: '2026-11-22T00:00:00Z' };
  await apply([eventRecord(paid({ txId: OTHER_TX, amount: '1.00' }, later), { offset: 1 })]);
  expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge([real]));
  expect(viewCharge(TX, await findCharge(tenantId, TX))).toMatchObject({ amount: '110.00' });
  expect(viewCharge(OTHER_TX, await findCharge(tenantId, OTHER_TX))).toBeUndefined();
});

describe('the operations', () => {
  const request = (): ApiRequest => ({
    identity: { clientId: 'client', tenantId, scopes: new Set() },
    requestId: 'request',
    params: { txId: TX },
    query: new URLSearchParams(),
    header: () => undefined,
    body: Buffer.alloc(0),
    isOver: () => false,
  });

  it('respond with projected events, and respond with 503 to misses while the projection does not run', async () => {
    const { operations, projection } = composeOn(first.database);
    const [cob] = operations;
    await expect(cob?.handle(request())).rejects.toMatchObject({ code: 'unavailable' });
    await projection.apply([eventRecord(paid({}, { tenantId }))]);
    const reply = await cob?.handle(request());
    expect(JSON.parse(String(reply?.body))).toMatchObject({
      ...{ txId: TX, status: 'CONCLUIDA', pix: [{ endToEndId: E2E, amount: '110.00' }] },
    });
  });

  it('belong to a projection of payments.events', () => {
    expect(projectionOn(first.database)).toMatchObject({
      name: 'events',
      topics: ['payments.events'],
    });
  });
});
