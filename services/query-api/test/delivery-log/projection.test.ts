import { renderNotification, TOPICS } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import { toDelivery, toRow } from '../../src/delivery-log/delivery-documents.js';
import { mergeEntries } from '../../src/delivery-log/merge-entries.js';
import type { DeliveryEntry } from '../../src/delivery-log/merge-entries.js';
import { findByIds } from '../../src/payments/event-store.js';
import { out } from '../payments/support/events.js';
import {
  OTHER_REF,
  REF,
  T0,
  baseOf,
  cancelled,
  dead,
  deadRecord,
  delivered,
  failed,
  packRecord,
  deferred,
  recordOf,
} from './support/entries.js';
import { openLog } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';

const NAME = randomName('query_log');
let log: OpenLog;
let other: OpenLog;
beforeAll(async () => {
  log = await openLog(NAME);
  other = await openLog(NAME);
});
afterAll(async () => {
  await Promise.all([log.close(), other.close()]);
});
beforeEach(() => {
  log.skipped.length = 0;
});

const placeOf = () => ({ tenantId: randomName('tenant') });

async function expectStored(entries: readonly DeliveryEntry[]): Promise<void> {
  const [first] = entries;
  const row = await log.row(first?.deliveryId ?? '');
  expect(row && toDelivery(row)).toEqual(mergeEntries(undefined, entries));
}

describe('the projection of attempts', () => {
  it('writes a delivery when its first attempt is reported', async () => {
    const place = placeOf();
    await log.apply(packRecord(delivered({}, place)));
    await expectStored([delivered({}, place)]);
    const { deliveryId } = baseOf(place);
    expect(await log.row(deliveryId)).toMatchObject({
      state: { status: 'delivered' },
      attempts: [{ status: 200 }],
      version: 1,
    });
  });

  it('inserts new deliveries by one statement, and reads and replaces only known ones', async () => {
    const place = placeOf();
    const many = (attempt: number, count: number) =>
      packRecord(
        ...Array.from({ length: count }, (_, at) => failed({ attempt }, { ...place, eventId: `evt_${at}` })),
      );
    const statements: string[] = [];
    log.onCommand(({ command }) => {
      const [first] = Object.entries(command);
      if (first?.[1] === 'deliveries') statements.push(first[0]);
    });
    await log.apply(many(1, 300));
    expect(statements.splice(0)).toEqual(['insert']);
    await log.apply(many(2, 400));
    expect(statements.splice(0)).toEqual(['insert', 'find', 'update']);
    await log.apply(many(2, 400));
    expect(statements).toEqual(['insert', 'find']);
  });

  it('has the same result in any order', async () => {
    const place = placeOf();
    const entries = [
      failed({}, place),
      deferred({ attempt: 2, at: T0 + 5_000 }, place),
      failed({ attempt: 2, at: T0 + 9_000, status: 500 }, place),
      delivered({ attempt: 3, at: T0 + 90_000 }, place),
    ];
    for (const entry of entries.toReversed()) await log.apply(packRecord(entry));
    await expectStored(entries);
  });

  it('writes nothing when all entries are repeated', async () => {
    const place = placeOf();
    const records = [packRecord(failed({}, place)), packRecord(cancelled({ attempt: 2 }, place))];
    await log.apply(...records);
    const { deliveryId } = baseOf(place);
    const before = await log.row(deliveryId);
    await log.apply(...records);
    for (const record of records) await other.apply(record);
    expect(await log.row(deliveryId)).toEqual(before);
  });

  it('reads a pack of many deliveries, among them some that are known', async () => {
    const place = placeOf();
    const many = Array.from({ length: 1_200 }, (_, index) => ({ ...place, eventId: `evt_${index}` }));
    const known = many.filter((_one, index) => index % 100 === 7);
    await log.apply(packRecord(...known.map((one) => failed({}, one))));
    await log.apply(
      ...[0, 1, 2, 3].map((part) =>
        packRecord(...many.slice(part * 300, part * 300 + 300).map((one) => failed({}, one))),
      ),
      packRecord(...known.map((one) => delivered({ attempt: 2 }, one))),
    );
    const count = (status: 'delivered' | 'pending') =>
      log.models.deliveries.find({ tenantId: place.tenantId, 'state.status': status }).lean().exec();
    expect(await count('delivered')).toHaveLength(known.length);
    expect(await count('pending')).toHaveLength(many.length - known.length);
  });

  it('loses nothing when two instances write the same deliveries at the same time', async () => {
    const place = placeOf();
    const entries = Array.from({ length: 10 }, (_, delivery) =>
      Array.from({ length: 8 }, (_none, attempt) =>
        failed({ attempt: attempt + 1, at: T0 + attempt }, { ...place, eventId: `evt_${delivery}` }),
      ),
    );
    const half = (odd: number) => entries.flat().filter(({ attempt }) => attempt % 2 === odd);
    await Promise.all([
      ...half(0).map((entry) => log.apply(packRecord(entry))),
      other.apply(packRecord(...half(1))),
      other.apply(packRecord(...half(1).toReversed())),
    ]);
    for (const one of entries) await expectStored(one);
  });
});

describe('the projection of dead letters', () => {
  it('adds the end and the attempts before it, and keeps the bytes', async () => {
    const place = placeOf();
    const history = `v1 1:${T0}:12:503 2:${T0 + 5}:30:TLS`;
    const { deliveryId, tenantId, eventId } = baseOf(place);
    const body = renderNotification(out({}, { tenantId, id: eventId }));
    await log.apply(deadRecord({ attempt: 2, history, body }, place));
    const events = await findByIds(log.runQuery, tenantId, [eventId]);
    expect(events.get(eventId)).toMatchObject({ partition: 4, offset: 77 });
    expect(events.get(eventId)?.body.toString()).toBe(body.toString());
    expect(await log.row(deliveryId)).toMatchObject({
      state: { status: 'dead', reason: 'attempts-exhausted' },
      updatedAt: new Date(T0 + 60_000),
      attempts: [{ attempt: 1 }, { attempt: 2 }],
    });
  });

  it('merges with a document of version 1.0, which has the attempts before the end as text', async () => {
    const place = placeOf();
    const end = {
      ...dead({ attempt: 2, at: T0 + 60_000 }, place),
      history: `v1 1:${T0}:12:503 2:${T0 + 5}:30:TLS`,
    };
    const { attempts: _attempts, ...rest } = toRow(mergeEntries(undefined, [end]), 1);
    const history = { cycle: '0', text: end.history };
    await log.models.deliveries.create({ ...rest, attempts: [], history });
    const shown = async () => (await log.get(end.tenantId, end.deliveryId)).body;
    const before = await shown();
    expect(before).toMatchObject({ attempts: [{ attempt: 1 }, { attempt: 2, error: 'TLS' }] });
    expect((await log.list(end.tenantId)).body).toMatchObject({
      data: [{ lastAttempt: 2, lastError: 'TLS' }],
    });
    await log.apply(packRecord(failed({}, place)));
    await expectStored([end, failed({}, place)]);
    expect(await log.row(end.deliveryId)).not.toHaveProperty('history');
  });

  it('has the same end as the pack', async () => {
    const place = placeOf();
    const told = dead({ at: T0 + 60_000 }, place);
    await log.apply(packRecord(told));
    const before = await log.row(told.deliveryId);
    await log.apply(deadRecord({}, place));
    expect(await log.row(told.deliveryId)).toEqual(before);
  });

  it('uses the time of the broker when the header has none', async () => {
    const place = placeOf();
    await log.apply(deadRecord({}, place, { 'dead-at': 'soon', 'dead-reason': 'a b' }));
    const { deliveryId } = baseOf(place);
    expect(await log.row(deliveryId)).toMatchObject({
      updatedAt: new Date(T0 + 900_000),
      state: { reason: 'unknown' },
    });
  });

  it('of one batch store their events by one statement, and each event once', async () => {
    const place = placeOf();
    const records = Array.from({ length: 300 }, (_, at) => {
      const eventId = `evt_${at % 150}`;
      const body = renderNotification(out({}, { ...place, id: eventId }));
      return deadRecord({ body }, { ...place, eventId, ref: at < 150 ? REF : OTHER_REF });
    });
    const statements: unknown[] = [];
    log.onCommand(({ command }) => {
      if (Object.values(command)[0] === 'events') statements.push(Object.keys(command)[0]);
    });
    await log.apply(...records);
    expect(statements).toEqual(['update']);
    expect(await log.models.events.countDocuments(place)).toBe(150);
  });

  it('is written again when its bytes could not be kept', async () => {
    const place = placeOf();
    const get = () => () => Promise.reject(new Error('the store of notifications is away'));
    const faulty = await openLog(NAME, undefined, (database) => ({
      ...database,
      writing: () => (statement) =>
        database.writing()((models) => statement({ ...models, events: new Proxy(models.events, { get }) })),
    }));
    await expect(faulty.apply(deadRecord({}, place))).rejects.toMatchObject({
      cause: { message: 'the store of notifications is away' },
    });
    await faulty.close();
    expect(await log.row(baseOf(place).deliveryId)).toBeNull();
  });
});

describe('a record that cannot be read', () => {
  const damaged = { ...deadRecord(), headers: {} };
  it.each([
    ['no value', recordOf(TOPICS.attempts, null), 'null-value'],
    ['bytes that are no JSON', recordOf(TOPICS.attempts, Buffer.from([0, 1, 2])), 'not-json'],
    ['JSON that is no pack', recordOf(TOPICS.attempts, Buffer.from('[]')), 'not-a-pack'],
    [
      'a pack of a far version',
      recordOf(TOPICS.attempts, Buffer.from('{"v":9,"records":[]}')),
      'unknown-version',
    ],
    [
      'a batch of an unknown codec',
      recordOf(TOPICS.attempts, Buffer.from('x'), { undecodable: 'lz5' }),
      'undecodable',
    ],
    ['a dead letter without headers', damaged, 'damaged-dead-letter'],
    [
      'an entry that bears the id of another delivery',
      packRecord(failed({ ref: OTHER_REF })),
      'damaged-entry',
    ],
    ['a tenant with a slash', packRecord(failed({}, { tenantId: 'a/b' })), 'damaged-entry'],
    ['a dead letter of one', deadRecord({}, { tenantId: 'a/b' }), 'damaged-dead-letter'],
    ['a ref that is no UUID', packRecord(failed({}, { ref: 'a/dead' })), 'damaged-entry'],
  ])('is reported and passed over: %s', async (_what, record, reason) => {
    const place = placeOf();
    await log.apply(record, packRecord(delivered({}, place)));
    expect(log.skipped).toEqual([reason]);
    await expectStored([delivered({}, place)]);
  });
});
