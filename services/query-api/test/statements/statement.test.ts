import { TEST_EVENT, TOPICS } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { createConcurrencyLimiter } from '@webhooks/http-api';
import { randomName } from '@webhooks/testkit';
import type { ConfigurationRow } from '../../src/configurations.js';
import { writeEntries } from '../../src/delivery-log/compose.js';
import { readRecords } from '../../src/delivery-log/read-records.js';
import { composePayments } from '../../src/payments/compose.js';
import { storeEvents } from '../../src/payments/event-store.js';
import type { CatchUpResult } from '../../src/projection/catch-up.js';
import { beginOf, dayOf, endOf, findSums } from '../../src/statements/daily-totals.js';
import type { Sums } from '../../src/statements/daily-totals.js';
import { statementOperations, viewStatement } from '../../src/statements/statement.js';
import type { StatementOptions } from '../../src/statements/statement.js';
import {
  OTHER_REF,
  REF,
  cancelled,
  dead,
  deadRecord,
  delivered,
  failed,
  packRecord,
} from '../delivery-log/support/entries.js';
import { openLog } from '../delivery-log/support/open-log.js';
import type { OpenLog } from '../delivery-log/support/open-log.js';
import { eventRecord, out } from '../payments/support/events.js';
import { faultOf } from '../support/openapi.js';

const NAME = randomName('statements');
const KEPT_MS = 30 * 86_400_000;
const ACCEPTED = Date.now() - 60_000;
const DAY = dayOf(ACCEPTED);
let log: OpenLog;
let other: OpenLog;
beforeAll(async () => {
  log = await openLog(NAME);
  other = await openLog(NAME);
});
afterAll(async () => {
  await Promise.all([log.close(), other.close()]);
});

let offsets = 0;
const accept = async (tenantId: string, eventId: string, amount = '50.00'): Promise<void> => {
  offsets += 1;
  const record = eventRecord(out({ amount }, { id: eventId, tenantId }), {
    timestamp: ACCEPTED,
    offset: offsets,
  });
  await applyEvents(record);
};
const operationsOf = (catchUp: StatementOptions['catchUp']) =>
  statementOperations({
    database: { within: () => log.runQuery },
    configurations: { ofTenant: (tenantId) => Promise.resolve([webhook({ tenantId })]) },
    retentionMs: KEPT_MS,
    catchUp,
  });
const operationOf = (result: CatchUpResult = 'passed') => operationsOf(() => Promise.resolve(result))[0];
const applyEvents = (...records: readonly KafkaRecord[]): Promise<void> =>
  composePayments({
    database: { within: () => log.runQuery, writing: () => log.runQuery, models: () => log.models },
    lists: createConcurrencyLimiter({ total: 1 }),
    catchUp: () => undefined,
    waiting: { total: 1, perTenant: 1 },
    retentionMs: KEPT_MS,
  }).projection.apply(records);

/** The facts of an event that workers report. */
const paid = { acceptedAt: ACCEPTED, cents: 5_000 };
const sumsOf = async (tenantId: string, of: string, day = DAY) =>
  (await findSums(log.runQuery, tenantId, day, day)).find((one) => one.of === of)?.sums;

const webhook = (over: Partial<ConfigurationRow> = {}): ConfigurationRow => ({
  ...{ tenantId: 'any', ref: REF, revision: 1, enabled: true, eventType: 'PIX_OUT' },
  ...{ endpointUrl: 'https://shop.example.com/pix', updatedAt: '2020-01-01T00:00:00.000Z' },
  ...over,
});

const sum = (events: number, amount: string) => ({ events, amount });
const NONE = sum(0, '0.00');

describe('the totals of a day', () => {
  it('count an event once, whatever the number of its records and readings, and are kept from the end of the day', async () => {
    const tenantId = randomName('tenant');
    const event = out({}, { tenantId });
    const first = eventRecord(event, { timestamp: ACCEPTED, offset: 900_001 });
    const repeat = eventRecord(event, { timestamp: ACCEPTED, offset: 900_002 });
    await applyEvents(first);
    await applyEvents(first, repeat);
    await applyEvents(repeat);
    expect(await sumsOf(tenantId, 'PIX_OUT')).toEqual({ accepted: { events: 1, cents: 5_000 } });
    const _id = `${tenantId}/${DAY}/PIX_OUT`;
    const row = await log.runQuery(({ totals }) => totals.findById(_id).lean().exec());
    expect(row?.endsAt).toEqual(new Date(endOf(DAY)));
  });

  it('count an event that was stored earlier', async () => {
    const tenantId = randomName('tenant');
    const record = eventRecord(out({}, { tenantId }), { timestamp: ACCEPTED, offset: 900_003 });
    await storeEvents(log.runQuery, [record]);
    await applyEvents(record);
    await applyEvents(record);
    expect(await sumsOf(tenantId, 'PIX_OUT')).toEqual({ accepted: { events: 1, cents: 5_000 } });
  });

  it('count an event whose record has no time on the day on which it is read, as the worker does', async () => {
    const tenantId = randomName('tenant');
    await applyEvents(eventRecord(out({}, { tenantId }), { timestamp: -1, offset: 900_004 }));
    expect(await sumsOf(tenantId, 'PIX_OUT', dayOf(Date.now()))).toEqual({
      accepted: { events: 1, cents: 5_000 },
    });
  });

  it('move a delivery within the day that has counted it, also when its event is repeated the next day', async () => {
    const place = { tenantId: randomName('tenant') };
    await log.apply(packRecord(failed(paid, place)));
    await log.apply(packRecord(delivered({ ...paid, acceptedAt: ACCEPTED + 86_400_000, attempt: 2 }, place)));
    expect(await sumsOf(place.tenantId, REF)).toMatchObject({
      pending: { events: 0, cents: 0 },
      delivered: { events: 1, cents: 5_000 },
    });
    expect(await sumsOf(place.tenantId, REF, dayOf(ACCEPTED + 86_400_000))).toBeUndefined();
  });

  it('count a delivery of an earlier version when its event is sent again, and take away nothing', async () => {
    const place = { tenantId: randomName('tenant') };
    await log.apply(packRecord(dead({}, place)));
    await log.apply(packRecord(delivered({ ...paid, cycle: 'r1' }, place)));
    expect(await sumsOf(place.tenantId, REF)).toEqual({ delivered: { events: 1, cents: 5_000 } });
  });

  it('move a delivery from one status to the next, once for each record', async () => {
    const place = { tenantId: randomName('tenant') };
    const records = [
      packRecord(failed(paid, place)),
      packRecord(dead({ ...paid, attempt: 13 }, place)),
      packRecord(delivered({ ...paid, cycle: 'r1' }, place)),
    ];
    for (const record of records) {
      await log.apply(record);
      await other.apply(record);
    }
    await log.apply(...records);
    expect(await sumsOf(place.tenantId, REF)).toEqual({
      pending: { events: 0, cents: 0 },
      dead: { events: 0, cents: 0 },
      delivered: { events: 1, cents: 5_000 },
    });
  });

  it('are the same when each batch is written, not counted, and read again', async () => {
    const place = { tenantId: randomName('tenant') };
    const records = [
      packRecord(failed(paid, place), delivered(paid, { ...place, eventId: 'evt_2' })),
      deadRecord({ acceptedAt: ACCEPTED }, place),
      packRecord(cancelled(paid, { ...place, eventId: 'evt_3', ref: OTHER_REF })),
    ];
    for (const record of records) {
      await writeEntries(log.runQuery, readRecords([record], () => undefined).entries);
      await log.apply(record);
    }
    const { pending, delivered: done, dead: ended } = (await sumsOf(place.tenantId, REF)) ?? {};
    expect([pending?.events, done?.events, ended?.events]).toEqual([0, 1, 1]);
    expect(await sumsOf(place.tenantId, OTHER_REF)).toEqual({ cancelled: { events: 1, cents: 5_000 } });
  });

  it('move a delivery by the record that moved it, when another partition is read again beside it', async () => {
    const place = { tenantId: randomName('tenant') };
    const counted = { ...packRecord(failed(paid, place)), partition: 1 };
    await log.apply(counted);
    await log.apply({ ...packRecord(delivered({ ...paid, attempt: 2 }, place)), partition: 0 }, counted);
    expect(await sumsOf(place.tenantId, REF)).toMatchObject({
      pending: { events: 0, cents: 0 },
      delivered: { events: 1, cents: 5_000 },
    });
  });

  it('leave out tests, and entries without an amount', async () => {
    const place = { tenantId: randomName('tenant') };
    await accept(place.tenantId, `${TEST_EVENT}1`);
    expect(await sumsOf(place.tenantId, 'PIX_OUT')).toBeUndefined();
    await log.apply(
      packRecord(
        delivered(paid, { ...place, eventId: `${TEST_EVENT}1` }),
        delivered({}, { ...place, eventId: 'evt_9' }),
      ),
    );
    expect(await sumsOf(place.tenantId, REF)).toBeUndefined();
  });

  it('count on the day of São Paulo on which the event was accepted', () => {
    expect(dayOf(Date.parse('2026-11-27T02:59:59.999Z'))).toBe('2026-11-26');
    expect(dayOf(beginOf('2026-11-27'))).toBe('2026-11-27');
  });
});

const totalsOf = (all: readonly (readonly [of: string, sums: Sums])[]) =>
  all.map(([of, sums]) => ({ day: '2026-11-26', of, sums }));

describe('a statement', () => {
  const sums = totalsOf([
    ['PIX_OUT', { accepted: { events: 10, cents: 100_000 } }],
    ['PIX_STATIC', { accepted: { events: 2, cents: 250 } }],
    [
      REF,
      {
        delivered: { events: 6, cents: 60_000 },
        dead: { events: 1, cents: 10_000 },
        pending: { events: 3, cents: 30_000 },
      },
    ],
    [OTHER_REF, { delivered: { events: 4, cents: 39_900 } }],
  ]);
  const later = { isRead: true, now: beginOf('2026-11-28') };

  it('balances when each event has become something', () => {
    const { webhooks, open, balanced } = viewStatement('2026-11-26', sums, [webhook()], later);
    expect(webhooks).toEqual([
      expect.objectContaining({
        ...{ events: sum(10, '1000.00'), delivered: sum(6, '600.00'), dead: sum(1, '100.00') },
        ...{ cancelled: NONE, waiting: sum(3, '300.00'), missed: NONE, balanced: true, difference: NONE },
      }),
    ]);
    expect({ open, balanced }).toEqual({ open: true, balanced: true });
  });

  it('says what a webhook missed that was registered, changed or disabled after the day began', () => {
    for (const over of [{ updatedAt: '2026-11-26T12:00:00.000Z' }, { enabled: false }]) {
      const one = webhook({ ref: OTHER_REF, ...over });
      const { webhooks, balanced } = viewStatement('2026-11-26', sums, [one], later);
      expect(webhooks[0]).toMatchObject({ missed: sum(6, '601.00'), difference: NONE });
      expect(balanced).toBe(true);
    }
  });

  it('is open, and events without a delivery wait, until all is read and 40 s after its day; then they differ', () => {
    const over = beginOf('2026-11-27') + 40_000;
    const other = [webhook({ ref: OTHER_REF })];
    const at = (isRead: boolean, now: number) => viewStatement('2026-11-26', sums, other, { isRead, now });
    const waits = { waiting: sum(6, '601.00'), difference: NONE };
    for (const open of [at(false, over), at(true, over - 1)])
      expect(open).toMatchObject({ open: true, balanced: true, webhooks: [waits] });
    const fewer = totalsOf([[REF, { delivered: { events: 1, cents: 900 } }]]);
    const read = (isRead: boolean) =>
      viewStatement('2026-11-26', fewer, [webhook()], { ...later, isRead }).balanced;
    expect([read(false), read(true)]).toEqual([true, false]);
    const differs = { missed: NONE, waiting: NONE, balanced: false, difference: sum(6, '601.00') };
    expect(at(true, over)).toMatchObject({ open: false, balanced: false, webhooks: [differs] });
  });

  it('has the events that matched no webhook, by their type', () => {
    expect(viewStatement('2026-11-26', sums, [webhook()], later).unmatched).toEqual([
      { eventType: 'PIX_STATIC', ...sum(2, '2.50') },
    ]);
  });

  it('leaves out alert endpoints', () => {
    const alerts = webhook({ eventType: 'ENDPOINT_ALERT' });
    expect(viewStatement('2026-11-26', sums, [alerts], later).webhooks).toEqual([]);
  });

  it('of a day that has ended is open while records are not read', async () => {
    const date = dayOf(ACCEPTED - 86_400_000);
    const request = { identity: { tenantId: randomName('tenant') }, params: { date } } as never;
    for (const [result, open] of [
      ['passed', false],
      ['late', true],
      ['full', true],
    ] as const)
      expect((await operationOf(result)?.handle(request))?.body).toMatchObject({ date, open });
  });

  it('has what is counted while it waits for the newest records', async () => {
    const tenantId = randomName('tenant');
    const [operation] = operationsOf(async () => {
      await accept(tenantId, 'evt_1', '12.34');
      return 'passed';
    });
    const reply = await operation?.handle({ identity: { tenantId }, params: { date: DAY } } as never);
    expect(reply?.body).toMatchObject({ webhooks: [{ events: sum(1, '12.34') }] });
  });

  it('reads one document for each webhook and type of its day', async () => {
    const tenantId = randomName('tenant');
    await accept(tenantId, 'evt_1', '12.34');
    await log.apply(packRecord(delivered({ acceptedAt: ACCEPTED, cents: 1_234 }, { tenantId })));
    const operation = operationOf();
    const request = { identity: { tenantId }, params: { date: DAY } };
    const explained: unknown[] = [];
    log.onCommand(({ command }) => explained.push(command['find']));
    const reply = await operation?.handle(request as never);
    expect(reply?.body).toMatchObject({
      date: DAY,
      balanced: true,
      webhooks: [{ ref: REF, events: sum(1, '12.34'), delivered: sum(1, '12.34') }],
    });
    expect(explained).toEqual(['totals']);
    expect(faultOf('#/components/schemas/Statement', reply?.body)).toBeUndefined();
  });

  it('is shown of the oldest day that is kept, and refused of the day before', async () => {
    const oldest = dayOf(Date.now() - KEPT_MS);
    const statementOf = async (date: string) =>
      operationOf()?.handle({ identity: { tenantId: randomName('tenant') }, params: { date } } as never);
    expect((await statementOf(oldest))?.status).toBe(200);
    await expect(statementOf(dayOf(beginOf(oldest) - 1))).rejects.toMatchObject({
      violations: [{ property: 'date', reason: 'must be a day that is still kept' }],
    });
  });

  it.each(['2026-02-31', 'today', '', '2026-1-1', '9999-12-31'])(
    'of the day "%s" is refused',
    async (date) => {
      const operation = operationOf();
      const reply = operation?.handle({ identity: { tenantId: 'acme' }, params: { date } } as never);
      await expect(reply).rejects.toMatchObject({ code: 'invalid-request' });
    },
  );
});

it('topics are named in positions without a point, because a member of a document has none', async () => {
  const place = { tenantId: randomName('tenant') };
  await log.apply(packRecord(delivered(paid, place)));
  const row = await log.models.totals.findById(`${place.tenantId}/${DAY}/${REF}`).lean().exec();
  expect(Object.keys(row?.offsets ?? {})).toEqual(['webhooks-attempts-0']);
  expect(TOPICS.attempts).toContain('.');
});
