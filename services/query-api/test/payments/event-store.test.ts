import { renderNotification, TOPICS } from '@webhooks/contracts';
import type { PaymentEvent, RecordOrigin } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import { randomName } from '@webhooks/testkit';
import type { Models } from '../../src/database.js';
import { placeOf } from '../../src/documents.js';
import { bodyOf, findByIds, storeDeadLetters, storeEvents, keyOf } from '../../src/payments/event-store.js';
import type { EventRow } from '../../src/payments/event-store.js';
import { findByKeyOf, findOfCharge, MAX_EVENTS, mergeRows } from '../../src/payments/find-events.js';
import { E2E, eventRecord, merge, OTHER_E2E, OTHER_TX, out, paid, reversal, TX } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const DAY_MS = 86_400_000;

let open: TestDatabase;
let runQuery: RunQuery<Models>;
let tenantId: string;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_events'));
});
beforeEach(() => {
  runQuery = open.database.within(20_000);
  tenantId = randomName('tenant');
});
afterAll(async () => {
  await open.close();
});

const within = () => runQuery;
const [byPix, byCharge] = [findByKeyOf('pix', within), findByKeyOf('charge', within)];
const findTransaction = async (...pix: Parameters<typeof keyOf>) =>
  mergeRows(await byPix([keyOf(...pix)]))[0];
const findCharge = async (...charge: Parameters<typeof keyOf>) =>
  mergeRows(await findOfCharge(byPix, await byCharge([keyOf(...charge)])));
const keep = (...events: readonly PaymentEvent[]): Promise<unknown> =>
  storeEvents(
    runQuery,
    events.map((event) => eventRecord(event)),
  );
const rowOf = (eventId: string): Promise<EventRow | null> =>
  runQuery(({ events }) => events.findById(keyOf(tenantId, eventId)).lean<EventRow>().exec());
async function storedBody(eventId: string, tenant = tenantId): Promise<Buffer | undefined> {
  const row = (await findByIds(runQuery, tenant, [eventId])).get(eventId);
  return row && bodyOf(row, 30 * DAY_MS);
}

it('an event is one document: its keys, its bytes and its place', async () => {
  const event = paid({ paidAt: '2026-11-21T14:03:27Z', ...{ payerName: 'Maria' } }, { tenantId });
  await storeEvents(runQuery, [eventRecord(event, { partition: 7, offset: 2 ** 40 })]);
  const { body, heardAt, appendedAt, ...rest } = (await rowOf(event.id)) ?? {};
  expect(rest).toStrictEqual({
    ...{ _id: `${tenantId}/evt_1`, pix: `${tenantId}/${E2E}`, charge: `${tenantId}/${TX}` },
    ...{ tenantId, eventType: 'PIX_DYNAMIC_PAID', cents: 11_000 },
    place: placeOf(Date.parse(event.occurredAt), 'evt_1'),
    ...{ partition: 7, offset: 2 ** 40 },
  });
  expect(body?.toString()).toBe(renderNotification(event).toString());
  expect(heardAt).toBeInstanceOf(Date);
  expect(appendedAt).toEqual(heardAt);
});

it('gives back the exact bytes of an event, to its own tenant', async () => {
  const event = paid({ paidAt: '2026-11-21T14:03:27Z' }, { tenantId, id: 'evt_A' });
  await keep(event, out({}, { tenantId, id: 'evt_2' }));
  expect(await storedBody('evt_A')).toEqual(renderNotification(event));
  expect(await storedBody('evt_A', 'other')).toBeUndefined();
  expect(await storedBody('evt_a')).toBeUndefined();
  const rows = await findByIds(runQuery, tenantId, ['evt_2', 'evt_3', 'evt_A', 'evt_2']);
  expect([...rows.keys()].sort()).toEqual(['evt_2', 'evt_A']);
});

it('an event can be sent again for the configured time, and can still be queried after it', async () => {
  const event = paid({}, { tenantId });
  await keep(event);
  const heardAt = new Date(Date.now() - 30 * DAY_MS);
  await runQuery(({ events }) => events.updateMany({ tenantId }, { heardAt }).exec());
  expect(await storedBody(event.id)).toBeUndefined();
  expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge([event]));
});

it.each([
  ['no time', -1, 7],
  ['the year 1970', 1_000, 7],
  ['a time that is no date', 9e18, 0],
  ['tomorrow', Date.now() + DAY_MS, 0],
  ['three days ago', Date.now() - 3 * DAY_MS, 3],
])('a record with %s is kept as if it were as old as the topic can hold', async (_what, timestamp, days) => {
  await storeEvents(runQuery, [eventRecord(paid({}, { tenantId }), { timestamp })]);
  const ageMs = Date.now() - Number((await rowOf('evt_1'))?.heardAt);
  expect(ageMs).toBeGreaterThanOrEqual(days * DAY_MS);
  expect(ageMs).toBeLessThan(days * DAY_MS + 60_000);
});

it('an event that the topic held for longer was appended when it was, and nobody missed it later', async () => {
  const timestamp = Date.now() - 10 * DAY_MS;
  await storeEvents(runQuery, [eventRecord(paid({}, { tenantId }), { timestamp })]);
  expect((await rowOf('evt_1'))?.appendedAt).toEqual(new Date(timestamp));
});

describe('a dead letter', () => {
  const ORIGIN: RecordOrigin = { topic: TOPICS.events, partition: 3, offset: '77' };
  const REDELIVERED: RecordOrigin = { topic: TOPICS.deliveries, partition: 0, offset: '0' };
  const die = (event: PaymentEvent, origin = ORIGIN, body = renderNotification(event)): Promise<void> =>
    storeDeadLetters(runQuery, [{ tenantId, eventId: event.id, origin, body }]);

  it('whose event is unknown adds it with its bytes, its fields and its place', async () => {
    const event = paid({ chargeAmount: '109.90' }, { tenantId });
    await die(event);
    const dead = await rowOf(event.id);
    expect(dead).toMatchObject({ partition: 3, offset: 77, charge: keyOf(tenantId, TX) });
    expect(await storedBody(event.id)).toEqual(renderNotification(event));
    await keep(event, reversal({}, { tenantId, id: 'evt_2' }));
    // Only when it was appended is known from its record alone: what a webhook missed is found by it.
    const appendedAt: unknown = expect.any(Date);
    expect(await rowOf(event.id)).toStrictEqual({ ...dead, appendedAt });
    const [found] = await findCharge(tenantId, TX);
    expect(found).toStrictEqual(merge([event, reversal({}, { tenantId, id: 'evt_2' })]));
  });

  it('restarts the retention of a known event, and changes nothing else', async () => {
    const event = paid({}, { tenantId });
    await storeEvents(runQuery, [eventRecord(event, { timestamp: 0, offset: 5 })]);
    const { heardAt: before, ...kept } = (await rowOf(event.id)) ?? {};
    await die(paid({ amount: '2.00' }, { tenantId }));
    const { heardAt: after, ...same } = (await rowOf(event.id)) ?? {};
    expect(same).toStrictEqual(kept);
    expect(Number(after) - Number(before)).toBeGreaterThan(6 * DAY_MS);
  });

  it('of a test notification stays one, and a redelivery has no place', async () => {
    await die(paid({}, { tenantId, id: 'evt_test_1' }), REDELIVERED);
    await die(paid({ endToEndId: OTHER_E2E }, { tenantId }), REDELIVERED);
    expect(await findTransaction(tenantId, E2E)).toMatchObject({ test: true });
    expect(await findTransaction(tenantId, OTHER_E2E)).toMatchObject({ test: false });
    expect(await rowOf('evt_1')).not.toHaveProperty('partition');
  });

  it('of a redelivery that was read before its event gets the place of that, and keeps it', async () => {
    const event = paid({}, { tenantId });
    await die(event, REDELIVERED);
    for (const offset of [7, 8]) await storeEvents(runQuery, [eventRecord(event, { partition: 5, offset })]);
    expect(await rowOf(event.id)).toMatchObject({ partition: 5, offset: 7 });
  });

  it.each(['{', '[]', '{"id":"evt_1"}'])('whose bytes are no event (%s) is not kept', async (bytes) => {
    await die(paid({}, { tenantId }), ORIGIN, Buffer.from(bytes));
    await die(paid({}, { tenantId }), ORIGIN, renderNotification(paid({}, { id: 'another' })));
    expect(await rowOf('evt_1')).toBeNull();
  });
});

describe('the queries', () => {
  it('find a Pix, and each Pix of a charge, for their tenant only, and keep upper and lower case apart', async () => {
    const [one, other] = [paid({}, { tenantId }), paid({ endToEndId: OTHER_E2E }, { tenantId, id: 'evt_2' })];
    // It names no charge: the Pix that paid it leads to it.
    const refund = reversal({}, { tenantId, id: 'evt_3' });
    await keep(other, refund, one);
    expect(await findTransaction(tenantId, E2E)).toStrictEqual(merge([one, refund]));
    const found = await findCharge(tenantId, TX);
    expect(found.toSorted((left, right) => left.endToEndId.localeCompare(right.endToEndId))).toStrictEqual([
      merge([one, refund]),
      merge([other]),
    ]);
    for (const [tenant, txId] of [
      [tenantId, OTHER_TX],
      [tenantId, TX.toUpperCase()],
      ['other', TX],
    ] as const)
      expect(await findCharge(tenant, txId)).toEqual([]);
    expect(await findTransaction('other', E2E)).toBeUndefined();
    expect(await findTransaction(tenantId, E2E.toLowerCase())).toBeUndefined();
  });

  it('read a bounded number of events, and say when there are more', async () => {
    const id = (at: number): string => `evt_${at}`;
    const ofOnePix = Array.from({ length: MAX_EVENTS }, (_, at) => reversal({}, { tenantId, id: id(at) }));
    await keep(...ofOnePix);
    expect(await findTransaction(tenantId, E2E)).toMatchObject({ truncated: false });
    const ofOneCharge = Array.from({ length: MAX_EVENTS }, (_, at) =>
      paid({ endToEndId: `E${String(at).padStart(31, '0')}` }, { tenantId, id: id(MAX_EVENTS + at) }),
    );
    await keep(...ofOneCharge);
    const charge = await findCharge(tenantId, TX);
    expect([charge.length, charge.some(({ truncated }) => truncated)]).toEqual([MAX_EVENTS, false]);
    await keep(paid({}, { tenantId, id: 'late' }));
    const pix = await findTransaction(tenantId, E2E);
    expect([pix?.truncated, pix?.reversals.length]).toEqual([true, MAX_EVENTS]);
    expect((await findCharge(tenantId, TX)).every(({ truncated }) => truncated)).toBe(true);
  });

  it('that run at once each find their events, even when one has more than a response holds', async () => {
    const ofOnePix = Array.from({ length: MAX_EVENTS }, (_, at) =>
      reversal({}, { tenantId, id: `evt_${at}` }),
    );
    await keep(...ofOnePix, paid({}, { tenantId, id: 'late' }));
    const foreign = randomName('tenant');
    await keep(paid({ endToEndId: OTHER_E2E }, { tenantId, id: 'other' }), paid({}, { tenantId: foreign }));
    const found = await Promise.all([
      findTransaction(tenantId, E2E),
      findTransaction(tenantId, OTHER_E2E),
      findTransaction(tenantId, 'E'.repeat(32)),
      findTransaction(foreign, E2E),
    ]);
    expect(found.map((one) => one?.truncated)).toEqual([true, false, undefined, false]);
    let statements = 0;
    const counted = findByKeyOf('pix', () => (statement) => {
      statements += 1;
      return runQuery(statement);
    });
    const wanted = [...Array.from({ length: 20 }, () => E2E), OTHER_E2E];
    const rows = await Promise.all(wanted.map((endToEndId) => counted([keyOf(tenantId, endToEndId)])));
    expect(rows.map(({ length }) => length)).toEqual([
      ...Array.from({ length: 20 }, () => MAX_EVENTS + 1),
      1,
    ]);
    // Together, which gave too many; then of each Pix one.
    expect(statements).toBe(3);
  });

  it.each([
    ['of Pix', 'pix', [E2E, OTHER_E2E]],
    ['of charges', 'charge', [TX, TX.toUpperCase()]],
  ])('%s read through an index, and look at no other document', async (_what, key, ids) => {
    await keep(
      paid({}, { tenantId }),
      paid({ txId: OTHER_TX, endToEndId: 'E'.repeat(32) }, { tenantId, id: 'x' }),
    );
    const plan: unknown = await runQuery(({ events }) =>
      events
        .find({ [key]: { $in: ids.map((id) => keyOf(tenantId, id)) } })
        .limit(MAX_EVENTS + 1)
        .explain('executionStats'),
    );
    const text = JSON.stringify(plan);
    expect(text).toContain(`"keyPattern":{"${key}":1}`);
    expect(text).not.toContain('COLLSCAN');
    expect(plan).toMatchObject({ executionStats: { nReturned: 1, totalDocsExamined: 1 } });
  });
});
