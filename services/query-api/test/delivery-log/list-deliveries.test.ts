import { causeOf } from '@webhooks/contracts';
import { createRandom, randomName } from '@webhooks/testkit';
import { mongo } from 'mongoose';
import type { Database } from '../../src/database.js';
import { deliveryStoreWithin, resolveEvents } from '../../src/delivery-log/delivery-store.js';
import type { DeliveryFilter } from '../../src/delivery-log/delivery-store.js';
import type { DeliveryList } from '../../src/delivery-log/operations.js';
import { deadRecord, delivered, failed, packRecord, REF } from './support/entries.js';
import { entriesOf, everyFilter, fill, matching, queryOf, REFS } from './support/generated-log.js';
import type { Known } from './support/generated-log.js';
import { openLog, WEBHOOK } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';

const BASE = Date.now() - 3_600_000;
const TENANT = randomName('tenant');
let log: OpenLog;
let all: readonly Known[];
beforeAll(async () => {
  log = await openLog(randomName('query_log'));
  all = await fill(log, entriesOf(TENANT, BASE, 1));
  // The same events of a neighbour, which nobody may see.
  await fill(log, entriesOf(randomName('tenant'), BASE, 1));
});
afterAll(() => log.close());

const listOf = async (tenantId: string, query: string): Promise<DeliveryList> =>
  (await log.list(tenantId, query)).body as DeliveryList;

/** Pages to the end, at most 1,000; `meanwhile` is done after each. */
async function readAll(
  tenantId: string,
  filter: DeliveryFilter,
  limit: number,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (let page = 0; page < 1_000; page += 1) {
    const query = `${queryOf(filter)}&limit=${limit}${cursor}`;
    const { data, results, nextCursor } = await listOf(tenantId, query);
    expect(data.length).toBeLessThanOrEqual(limit);
    expect(results).toBe(data.length);
    ids.push(...data.map(({ deliveryId }) => deliveryId));
    if (nextCursor === undefined) return ids;
    cursor = `&cursor=${nextCursor}`;
    await meanwhile();
  }
  throw new Error('expected an end of the pages');
}

const idsOf = (known: readonly Known[]): readonly string[] => known.map(({ deliveryId }) => deliveryId);
const FILTERS = everyFilter(new Date(BASE - 30_000), new Date(BASE - 2));

describe('the list of deliveries', () => {
  it('has the matches of every combination of filters in order and once, page by page', async () => {
    const random = createRandom(7);
    const sizes: number[] = [];
    for (const filter of FILTERS) {
      const expected = idsOf(matching(all, filter));
      sizes.push(expected.length);
      expect([filter, await readAll(TENANT, filter, random.int(5, 60))]).toEqual([filter, expected]);
    }
    expect(FILTERS).toHaveLength(160);
    // The rows were made so that most combinations find something.
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(60);
  });

  it('counts every combination of filters, and reads it from the oldest', async () => {
    const store = deliveryStoreWithin({ within: () => log.runQuery }, 60_000);
    for (const filter of FILTERS) {
      const expected = idsOf(matching(all, filter)).toReversed();
      const resolved = await resolveEvents(log.runQuery, TENANT, filter);
      const count = (max: number) => store.count(TENANT, resolved, max, 60_000);
      expect([filter, await count(1_000)]).toEqual([
        filter,
        { matched: expected.length, isLowerBound: false },
      ]);
      if (expected.length > 3) expect(await count(3)).toEqual({ matched: 3, isLowerBound: true });
      const first = await store.page(TENANT, filter, { order: 'oldest-first', limit: 20 });
      const behind = { order: 'oldest-first', after: first.next, limit: 500 } as const;
      const rest = first.next === undefined ? undefined : await store.page(TENANT, filter, behind);
      expect([filter, first.next !== undefined]).toEqual([filter, expected.length > 20]);
      expect(rest?.next).toBeUndefined();
      const rows = [...first.rows, ...(rest?.rows ?? [])];
      expect([filter, rows.map(({ deliveryId }) => deliveryId)]).toEqual([filter, expected]);
    }
  });

  it('says that a count is a lower bound when its time is over', async () => {
    const over = new mongo.MongoServerError({ message: 'operation exceeded time limit', code: 50 });
    const deliveries = { countDocuments: () => ({ exec: () => Promise.reject(over) }) };
    const within: Database['within'] = () => (statement) =>
      statement({ ...log.models, deliveries: deliveries as never });
    const counted = deliveryStoreWithin({ within }, 60_000).count(TENANT, {}, 10, 1);
    expect(await counted).toEqual({ matched: 0, isLowerBound: true });
  });

  it.each<DeliveryFilter>([{}, { ref: REF }, { eventType: 'PIX_STATIC' }, { status: 'pending' }])(
    'leaves out nothing that was there while deliveries arrive: %j',
    async (filter) => {
      const tenantId = randomName('tenant');
      const known = await fill(log, entriesOf(tenantId, BASE, 2));
      const random = createRandom(11);
      let arrived = 0;
      const arrive = () => {
        arrived += 1;
        const at = random.chance(0.5) ? Date.now() : BASE - random.int(0, 3) * 1_000;
        const place = {
          tenantId,
          ref: REFS[random.int(0, 2)] ?? REF,
          eventId: `new_${arrived}`,
        };
        return log.apply(packRecord(random.chance(0.5) ? delivered({ at }, place) : failed({ at }, place)));
      };
      const ids = await readAll(tenantId, filter, 7, arrive);
      const before = new Set(idsOf(known));
      expect(arrived).toBeGreaterThan(3);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => before.has(id))).toEqual(idsOf(matching(known, filter)));
    },
  );

  it.each<DeliveryFilter>([{}, { ref: REF }, { eventType: 'PIX_STATIC' }])(
    'neither skips nor repeats what changes its status between pages: %j',
    async (filter) => {
      const tenantId = randomName('tenant');
      const known = await fill(log, entriesOf(tenantId, BASE, 3));
      const [first] = known;
      if (!first) throw new Error('expected deliveries');
      const random = createRandom(5);
      let changes = 0;
      const change = () => {
        changes += 1;
        const over = { cycle: `r${String(changes).padStart(5, '0')}`, at: BASE + 60_000 + changes };
        const some = Array.from({ length: 20 }, () => {
          const { ref, eventId, eventType } = known[random.int(0, known.length - 1)] ?? first;
          const make = random.chance(0.5) ? delivered : failed;
          return make({ ...over, eventType }, { tenantId, ref, eventId });
        });
        return log.apply(packRecord(...some));
      };
      expect(await readAll(tenantId, filter, 11, change)).toEqual(idsOf(matching(known, filter)));
      expect(changes).toBeGreaterThan(3);
    },
  );

  it('shows the deliveries that have the status when the page is read', async () => {
    const tenantId = randomName('tenant');
    const [oldest, middle, newest] = [1, 2, 3].map((at) =>
      failed({ at: BASE + at }, { tenantId, eventId: `evt_${at}` }),
    );
    if (!oldest || !middle || !newest) throw new Error('expected three deliveries');
    await log.apply(packRecord(oldest, middle, newest));
    const end = () => {
      const { eventId } = middle;
      return log.apply(packRecord(delivered({ attempt: 2, at: BASE + 9 }, { tenantId, eventId })));
    };
    const ids = await readAll(tenantId, { status: 'pending' }, 1, end);
    expect(ids).toEqual([newest.deliveryId, oldest.deliveryId]);
  });

  it('continues from its cursor with other filters', async () => {
    const { nextCursor } = await listOf(TENANT, 'limit=5');
    const behind = idsOf(matching(all, {})).slice(5);
    for (const to of [new Date(BASE - 30_000), new Date()]) {
      const { data } = await listOf(TENANT, `to=${to.toISOString()}&limit=200&cursor=${nextCursor ?? ''}`);
      const expected = idsOf(matching(all, { to })).filter((id) => behind.includes(id));
      expect(data.map(({ deliveryId }) => deliveryId)).toEqual(expected);
    }
  });

  it('is refused for an empty time range', async () => {
    for (const to of ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'])
      await expect(listOf(TENANT, `from=2026-11-21T00:00:00Z&to=${to}`)).rejects.toMatchObject({
        code: 'invalid-request',
        violations: [{ property: 'from', reason: 'must be before to' }],
      });
  });

  it('has 50 without a limit, and 200 at most', async () => {
    expect((await listOf(TENANT, '')).results).toBe(50);
    expect((await listOf(TENANT, 'limit=180')).nextCursor).toBeUndefined();
    expect((await listOf(TENANT, 'limit=179')).nextCursor).toBeDefined();
  });

  it('shows neither addresses nor bodies', async () => {
    const tenantId = randomName('tenant');
    const entry = failed({ at: BASE }, { tenantId });
    await log.apply(packRecord(entry));
    expect(await listOf(tenantId, '')).toEqual({
      data: [
        {
          deliveryId: entry.deliveryId,
          ref: entry.ref,
          eventId: 'evt_1',
          eventType: 'PIX_OUT',
          endpointUrl: WEBHOOK.endpointUrl,
          status: 'pending',
          cycle: '0',
          redelivery: false,
          createdAt: new Date(BASE).toISOString(),
          updatedAt: new Date(BASE).toISOString(),
          nextAt: new Date(entry.nextAt ?? 0).toISOString(),
          lastAttempt: 1,
          lastStatus: 503,
          lastCause: causeOf({ status: 503 }),
        },
      ],
      results: 1,
    });
  });

  it('goes by the first attempt, also when a later one is read before it', async () => {
    const tenantId = randomName('tenant');
    const around = `from=${new Date(BASE).toISOString()}&to=${new Date(BASE + 1).toISOString()}`;
    await log.apply(packRecord(delivered({ at: BASE + 5_000, attempt: 2 }, { tenantId })));
    expect((await listOf(tenantId, around)).results).toBe(0);
    await log.apply(packRecord(failed({ at: BASE }, { tenantId })));
    expect((await listOf(tenantId, around)).results).toBe(1);
  });

  it('goes by the first attempt, also when only the dead letter reports it', async () => {
    const place = { tenantId: randomName('tenant') };
    const first = BASE - 76 * 3_600_000;
    const history = `v1 1:${first}:12:503 2:${BASE}:30:503`;
    await log.apply(deadRecord({ attempt: 2, history }, place));
    const createdAt = new Date(first);
    const day = { from: createdAt, to: new Date(first + 86_400_000) };
    const { data } = await listOf(place.tenantId, queryOf(day));
    expect(data).toMatchObject([{ status: 'dead', createdAt: createdAt.toISOString() }]);
    expect(await listOf(place.tenantId, queryOf({ from: day.to }))).toMatchObject({ data: [] });
  });

  it('compares times with fractions of a millisecond exactly', async () => {
    const tenantId = randomName('tenant');
    await log.apply(packRecord(delivered({ at: BASE }, { tenantId })));
    const just = new Date(BASE).toISOString();
    const later = just.replace('Z', '001Z');
    const count = async (query: string) => (await listOf(tenantId, query)).results;
    expect(await count(`from=${just}`)).toBe(1);
    expect(await count(`from=${later}`)).toBe(0);
    expect(await count(`to=${just}`)).toBe(0);
    expect(await count(`to=${later}`)).toBe(1);
  });
});

describe('a query that is not well-formed', () => {
  const place = `${'0'.repeat(10)}${'a'.repeat(52)}`;
  it.each([
    ['an unknown parameter', 'tenantId=acme', 'tenantId'],
    ['a repeated parameter', 'limit=5&limit=5', 'limit'],
    ['a limit of 0', 'limit=0', 'limit'],
    ['a limit over 200', 'limit=201', 'limit'],
    ['a limit that is no number', 'limit=5e1', 'limit'],
    ['an event id with a slash', 'eventId=a/b', 'eventId'],
    ['an end-to-end id of 31 characters', `endToEndId=${'E'.repeat(31)}`, 'endToEndId'],
    ['a txId of 36 characters', `txId=${'a'.repeat(36)}`, 'txId'],
    ['an empty txId', 'txId=', 'txId'],
    ['an unknown event type', 'eventType=PIX', 'eventType'],
    ['an unknown status', 'status=failed', 'status'],
    ['a status named as what every object has', 'status=constructor', 'status'],
    ['a time without its zone', 'from=2026-11-22T00:00:00', 'from'],
    ['a time in another zone', 'to=2026-11-22T00:00:00%2B03:00', 'to'],
    ['a day that does not exist', 'to=2026-02-30T00:00:00Z', 'to'],
    ['an empty cursor', 'cursor=', 'cursor'],
    ['a cursor that is only a letter', 'cursor=c', 'cursor'],
    ['a cursor that is too short', `cursor=c${place.slice(1)}`, 'cursor'],
    ['a cursor that is too long', `cursor=c${place}a`, 'cursor'],
    ['a cursor without its letter', `cursor=${place}`, 'cursor'],
    ['a cursor in upper case', `cursor=c${place.toUpperCase()}`, 'cursor'],
    ['a cursor of no id', `cursor=c${place.slice(0, -1)}1`, 'cursor'],
    ['a cursor that no time has', `cursor=c${'z'.repeat(10)}${'a'.repeat(52)}`, 'cursor'],
    ['a cursor with an operator', 'cursor[$gt]=', 'cursor[$gt]'],
  ])('is refused and named: %s', async (_what, query, property) => {
    await expect(log.list(TENANT, query)).rejects.toMatchObject({
      code: 'invalid-request',
      violations: [{ property }],
    });
  });

  it('an invented cursor shows only deliveries of the tenant', async () => {
    const ids = new Set(idsOf(all));
    const { data } = await listOf(
      TENANT,
      `limit=200&cursor=c00zzzzzzzz${'a'.repeat(52)}`.replace('00zz', '0zzz'),
    );
    expect(data.every(({ deliveryId }) => ids.has(deliveryId))).toBe(true);
  });
});
