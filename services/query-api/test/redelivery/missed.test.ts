import { renderNotification } from '@webhooks/contracts';
import type { FanOutEntry, PaymentEvent } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import { writeEntries } from '../../src/delivery-log/compose.js';
import { storeFanOuts } from '../../src/delivery-log/delivery-documents.js';
import { storeEvents, storeTestEvent } from '../../src/payments/event-store.js';
import { countMatches, readJobPage } from '../../src/redelivery/job-pages.js';
import type { RedeliveryFilter } from '../../src/redelivery/redelivery-store.js';
import { cycleOf } from '../../src/redelivery/redelivery-task.js';
import { runPage } from '../../src/redelivery/run-redeliveries.js';
import { delivered, OTHER_REF, REF } from '../delivery-log/support/entries.js';
import { eventRecord, fixed, out } from '../payments/support/events.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';
import { ENABLED, idsOf, LEASE_MS, openRig, upToDate } from './support/open-rig.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('missed'));
});
afterAll(() => test.close());

const HOUR_MS = 3_600_000;
const COUNT = 450;
const BEGIN = Date.now() - HOUR_MS;
/** The webhook was disabled for these. */
const [FROM, TO] = [100, 400];

/** Three of a millisecond. */
const timeOf = (index: number): number => BEGIN + Math.floor(index / 3);
const eventsOf = (tenantId: string): readonly PaymentEvent[] =>
  Array.from({ length: COUNT }, (_, index) => fixed({}, { tenantId, id: `evt_${index}` }));

/** A tenant of whose events those outside the range were delivered, and all of them to another webhook. */
async function fill(tenantId: string) {
  const runQuery = test.database.within(60_000);
  const events = eventsOf(tenantId);
  const records = events.map((event, index) =>
    eventRecord(event, { timestamp: timeOf(index), offset: index }),
  );
  const other = out({}, { tenantId, id: 'evt_other_type' });
  const posted = eventRecord(fixed({}, { tenantId, id: 'evt_test_0' }), { timestamp: timeOf(50) });
  await storeEvents(runQuery, [...records, eventRecord(other, { timestamp: timeOf(200) }), posted]);
  await storeTestEvent(runQuery, fixed({}, { tenantId, id: 'evt_test_1' }));
  const log = events.flatMap(({ id }, index) => [
    delivered({}, { tenantId, eventId: id, ref: OTHER_REF }),
    ...(index < FROM || index >= TO ? [delivered({}, { tenantId, eventId: id, ref: REF })] : []),
  ]);
  await writeEntries(runQuery, log);
  const filter: RedeliveryFilter = {
    ...{ status: 'missed', ref: REF, eventType: 'PIX_STATIC' },
    ...{ from: new Date(BEGIN), to: new Date(BEGIN + HOUR_MS) },
  };
  const parts = { database: test.database, retentionMs: HOUR_MS * 2, logRetentionMs: HOUR_MS * 2 };
  return { events, missed: events.slice(FROM, TO), filter, parts };
}

const configurations = {
  known: () => ENABLED,
  upToDate,
};

it('a webhook that was disabled for a while gets each event that it missed once, and none that it had, through a kill', async () => {
  const tenantId = randomName('tenant');
  const { missed, filter, parts } = await fill(tenantId);
  const rig = openRig(test, [], {
    readPage: (job, limit) => readJobPage(job, limit, parts),
    configurations,
  });
  const job = await rig.start({ tenantId, filter });
  await runPage(rig.ports);
  await runPage(rig.ports);
  const dying = { ...rig.store, advance: () => Promise.reject(new Error('killed')) };
  await expect(runPage({ ...rig.ports, storeFor: () => dying })).rejects.toThrow('killed');
  const before = rig.sent.length;
  rig.advance(LEASE_MS + 1);
  const another = { ...rig.ports, owner: 'another' };
  for (let pause = await runPage(another); pause !== undefined; pause = await runPage(another));

  const ids = rig.sent.map(({ eventId }) => eventId);
  expect(new Set(ids)).toEqual(new Set(missed.map(({ id }) => id)));
  // The page that was sent and not counted is sent again.
  expect(ids).toHaveLength(missed.length + 100);
  expect(idsOf(rig.sent).slice(before, before + 100)).toEqual(idsOf(rig.sent).slice(before - 100, before));
  expect(rig.sent.map(({ body }) => String(body)).at(-1)).toBe(
    String(renderNotification(fixed({}, { tenantId, id: ids.at(-1) ?? '' }))),
  );
  expect(new Set(rig.sent.map(({ cycle, attempt }) => [cycle, attempt].join()))).toEqual(
    new Set([`${cycleOf(job._id)},1`]),
  );
  expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: missed.length } });
}, 60_000);

it('a dry run counts what is missed of the range, and what is not kept any more is expired', async () => {
  const tenantId = randomName('tenant');
  const { missed, filter, parts } = await fill(tenantId);
  const counted = await countMatches(tenantId, filter, 1_000_000, parts);
  expect(counted).toEqual({ matched: missed.length, isLowerBound: false });
  const later = { ...filter, from: new Date(timeOf(201)), to: new Date(timeOf(300)) };
  expect(await countMatches(tenantId, later, 1_000_000, parts)).toEqual({ matched: 99, isLowerBound: false });
  const rig = openRig(test, [], {
    readPage: (job, limit) => readJobPage(job, limit, { ...parts, retentionMs: 1 }),
    configurations,
  });
  const job = await rig.start({ tenantId, filter });
  await rig.finish();
  expect(rig.sent).toEqual([]);
  expect(await rig.find(job)).toMatchObject({ counts: { sent: 0, refused: 0, expired: missed.length } });
}, 60_000);

it('a count pauses after each page for as long as the page took, and reads no notification', async () => {
  const tenantId = randomName('tenant');
  const { filter, parts } = await fill(tenantId);
  const more = Array.from({ length: 2 * COUNT }, (_, index) =>
    fixed({}, { tenantId, id: `evt_more_${index}` }),
  );
  await storeEvents(
    test.database.within(60_000),
    more.map((event) => eventRecord(event, { timestamp: BEGIN + 1_000 })),
  );
  const finds: object[] = [];
  test.onCommand(({ command }) => {
    if (command['find'] === 'events') finds.push(command);
  });
  let busyMs = 0;
  const within: typeof parts.database.within = (ms) => async (statement) => {
    const at = performance.now();
    return parts.database
      .within(ms)(statement)
      .finally(() => (busyMs += performance.now() - at));
  };
  const beganAt = performance.now();
  await countMatches(tenantId, filter, 1_000_000, { ...parts, database: { within } });
  // It rests behind each page but the last of three, or ends earlier on a slow machine.
  expect(performance.now() - beganAt).toBeGreaterThan(1.2 * busyMs);
  for (const find of finds) expect(find).toMatchObject({ projection: { appendedAt: 1 } });
}, 60_000);

it('a job of what was missed sends nothing before the log has all that is on the topics', async () => {
  const tenantId = randomName('tenant');
  const { missed, filter, parts } = await fill(tenantId);
  let log: 'late' | 'passed' = 'late';
  const rig = openRig(test, [], {
    readPage: (job, limit) => readJobPage(job, limit, parts),
    catchUp: () => Promise.resolve(log),
    configurations,
  });
  await rig.start({ tenantId, filter });
  await expect(runPage(rig.ports)).rejects.toThrow('the newest records are read');
  log = 'passed';
  rig.advance(LEASE_MS + 1);
  await rig.finish();
  expect(rig.sent).toHaveLength(missed.length);
}, 60_000);

it('an event that a dead letter of another webhook keeps alive was not missed once the log has forgotten its delivery', async () => {
  const tenantId = randomName('tenant');
  const runQuery = test.database.within(20_000);
  const event = fixed({}, { tenantId });
  const days = (count: number): number => Date.now() - count * 24 * HOUR_MS;
  await storeEvents(runQuery, [eventRecord(event)]);
  await runQuery(({ events }) => events.updateMany({ tenantId }, { appendedAt: new Date(days(6)) }).exec());
  const filter = { status: 'missed', ref: REF, eventType: 'PIX_STATIC' } as const;
  const range = { from: new Date(days(7)), to: new Date(days(0)) };
  const kept = { database: test.database, retentionMs: 30 * 24 * HOUR_MS, logRetentionMs: 7 * 24 * HOUR_MS };
  const bodiesWith = async (parts: typeof kept) => {
    const job = { tenantId, filter: { ...filter, ...range } };
    return (await readJobPage(job, 10, parts)).candidates.map(({ body }) => body !== undefined);
  };
  expect(await bodiesWith(kept)).toEqual([true]);
  expect(await bodiesWith({ ...kept, logRetentionMs: 5 * 24 * HOUR_MS })).toEqual([false]);
  // Its `heardAt` is of today.
  expect(await bodiesWith({ ...kept, retentionMs: 5 * 24 * HOUR_MS })).toEqual([false]);
}, 60_000);

it('a delivery whose event is not projected yet is not taken for one whose notification has expired', async () => {
  const tenantId = randomName('tenant');
  const runQuery = test.database.within(20_000);
  await writeEntries(runQuery, [delivered({}, { tenantId, ref: REF })]);
  const event = out({}, { tenantId });
  const known = () => ({ ...ENABLED, eventType: 'PIX_OUT' }) as const;
  const rig = openRig(test, [], {
    readPage: (job, limit) =>
      readJobPage(job, limit, { database: test.database, retentionMs: HOUR_MS, logRetentionMs: HOUR_MS }),
    catchUp: async () => {
      await storeEvents(runQuery, [eventRecord(event)]);
      return 'passed';
    },
    configurations: { known, upToDate },
  });
  const filter = { status: 'delivered', from: new Date(0), to: new Date() } as const;
  const job = await rig.start({ tenantId, filter });
  await rig.finish();
  expect(await rig.find(job)).toMatchObject({ counts: { sent: 1, expired: 0 } });
}, 60_000);

it('what a webhook missed is read through its index, in the order of that', async () => {
  const models = test.database.models();
  const eventType = 'PIX_STATIC' as const;
  const range = { tenantId: 'acme', eventType, appendedAt: { $gte: new Date(BEGIN) } };
  const query = models?.events.find(range).sort({ appendedAt: 1, _id: 1 }).limit(100);
  const plan = JSON.stringify(await query?.explain('queryPlanner'));
  expect(plan).toContain('"IXSCAN"');
  expect(plan).toContain('appendedAt');
});

it('events of a fan-out that has not ended are not missed yet, in any order of reading', async () => {
  const tenantId = randomName('tenant');
  const { missed, filter, parts } = await fill(tenantId);
  const count = async () => (await countMatches(tenantId, filter, 1_000, parts)).matched;
  const [first = '', second = ''] = missed.map(({ id }) => id);
  const entry = (eventId: string, isOpen: boolean): FanOutEntry => {
    const at = Date.now();
    return { kind: 'fan-out', tenantId, eventId, at, isOpen };
  };
  const runQuery = test.database.within(10_000);
  await storeFanOuts(runQuery, [entry(first, true), entry(second, true)]);
  expect(await count()).toBe(missed.length - 2);
  await storeFanOuts(runQuery, [entry(first, false)]);
  await storeFanOuts(runQuery, [entry(first, true)]);
  expect(await count()).toBe(missed.length - 1);
});
