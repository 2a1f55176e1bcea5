import type { RunQuery } from '@webhooks/mongodb';
import { randomName } from '@webhooks/testkit';
import fc from 'fast-check';
import type { Models } from '../../src/database.js';
import { storeEvents } from '../../src/payments/event-store.js';
import { CURSOR, formatCursor, parseCursor, readPage } from '../../src/payments/pull-page.js';
import type { PullCursor, PullPage, PullRequest } from '../../src/payments/pull-page.js';
import { eventRecord, out, paid } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const generation = '3f9a1c2e';
const START: PullCursor = { generation, caughtUpAt: 0, first: 0, offsets: new Map() };

let open: TestDatabase;
let runQuery: RunQuery<Models>;
let tenantId: string;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_pull'));
});
beforeEach(() => {
  tenantId = randomName('tenant');
  runQuery = open.database.within(20_000);
});
afterAll(async () => {
  await open.close();
});

interface Place {
  readonly partition: number;
  readonly offset: number;
}

const keep = (id: string, place: Place): Promise<unknown> =>
  storeEvents(runQuery, [eventRecord(paid({}, { tenantId, id }), place)]);

const idsOf = ({ data }: PullPage): string[] => data.map(({ id }) => id);

/** The next page, by the cursor as its reader got it. */
function page(cursor: PullCursor, ends: ReadonlyMap<number, number>, request: Partial<PullRequest> = {}) {
  const given = parseCursor(formatCursor(cursor));
  return readPage(runQuery, { tenantId, limit: 100, ...request }, given, { ends, at: 1, pages: new Map() });
}

/** What is applied of a topic: records in any order, and by partition how far all are. */
class Topic {
  readonly #ends = new Map<number, number>();
  readonly #waiting: (Place & { readonly id: string })[] = [];

  append(partition: number, id: string): void {
    // Every other offset is that of a marker.
    const offset = (this.#ends.get(partition) ?? 0) + 1;
    this.#ends.set(partition, offset + 1);
    this.#waiting.push({ partition, offset, id });
  }

  get isApplied(): boolean {
    return this.#waiting.length === 0;
  }

  async apply(which: number): Promise<void> {
    const [record] = this.#waiting.splice(which % this.#waiting.length, 1);
    if (record) await keep(record.id, record);
  }

  positions(): ReadonlyMap<number, number> {
    const firstOf = (partition: number): number =>
      this.#waiting.find((record) => record.partition === partition)?.offset ?? Infinity;
    return new Map([...this.#ends].map(([partition, end]) => [partition, Math.min(end, firstOf(partition))]));
  }
}

describe('a chain of pages', () => {
  it('shows each event once, in whatever order records are applied, also those of an event that was appended twice', async () => {
    const appended = fc.array(fc.tuple(fc.nat(2), fc.nat(14)), { maxLength: 30 });
    const steps = fc.array(fc.nat(99), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(appended, steps, async (records, choices) => {
        tenantId = randomName('tenant');
        const topic = new Topic();
        for (const [partition, event] of records) topic.append(partition, `evt_${event}`);
        const shown: string[] = [];
        let cursor = START;
        const read = async (limit: number): Promise<boolean> => {
          const next = await page(cursor, topic.positions(), { limit });
          shown.push(...idsOf(next));
          cursor = next.next;
          return next.hasMore;
        };
        for (const choice of choices) {
          if (choice < 40) await read(1 + (choice % 4));
          else if (!topic.isApplied) await topic.apply(choice);
        }
        while (!topic.isApplied) await topic.apply(0);
        while (await read(3));
        expect(shown.toSorted()).toEqual([...new Set(records.map(([, event]) => `evt_${event}`))].sort());
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it('is in the order of each partition, and takes from all in turn', async () => {
    for (const [partition, ids] of [['a1', 'a2', 'a3'], ['b1'], ['c1', 'c2', 'c3']].entries())
      for (const [offset, id] of ids.entries()) await keep(id, { partition, offset });
    const ends = new Map([0, 1, 2].map((partition) => [partition, 9]));
    const shown: string[][] = [];
    let next: PullPage = { data: [], next: START, hasMore: true };
    while (next.hasMore) {
      next = await page(next.next, ends, { limit: 2 });
      shown.push(idsOf(next));
      // Faster than it is read.
      if (shown.length === 1) await keep('a4', { partition: 0, offset: 3 });
    }
    expect(shown).toEqual([['a1', 'a2'], ['b1', 'c1'], ['a3', 'a4'], ['c2', 'c3'], []]);
    expect(next.next).toEqual({ generation, caughtUpAt: 1, first: 0, offsets: ends });
  });

  it('goes on where it was in a partition that is projected anew, and begins with the oldest of a new one', async () => {
    await keep('old', { partition: 0, offset: 4 });
    await keep('new', { partition: 1, offset: 0 });
    const { next } = await page(START, new Map([[0, 5]]));
    const anew = await page(next, new Map([[0, 2], [1, 1]])); // prettier-ignore
    expect([idsOf(anew), [...anew.next.offsets]]).toEqual([['new'], [[0, 5], [1, 1]]]); // prettier-ignore
  });

  it('shows the events of a topic that was made anew, at places that other events have', async () => {
    for (const id of ['old', 'older', 'new']) await keep(id, { partition: 0, offset: 1 });
    await keep('next', { partition: 0, offset: 2 });
    const ends = new Map([[0, 3]]);
    const first = await page(START, ends, { limit: 1 });
    const second = await page(first.next, ends, { limit: 1 });
    expect([idsOf(first).sort(), idsOf(second)]).toEqual([['new', 'old', 'older'], ['next']]);
  });

  it('of one type skips the others, a thousand on each page', async () => {
    const records = Array.from({ length: 1_001 }, (_, offset) =>
      eventRecord((offset === 1_000 ? out : paid)({}, { tenantId, id: `evt_${offset}` }), { offset }),
    );
    await storeEvents(runQuery, records);
    const ends = new Map([[0, 1_001]]);
    const first = await page(START, ends, { eventType: 'PIX_OUT', limit: 1 });
    expect([first.data.length, first.hasMore, first.next.offsets]).toEqual([0, true, new Map([[0, 1_000]])]);
    const second = await page(first.next, ends, { eventType: 'PIX_OUT' });
    expect([idsOf(second), second.hasMore]).toEqual([['evt_1000'], false]);
  });

  it('is read through its index, and looks at no other document', async () => {
    for (const [offset, id] of ['a', 'b', 'c'].entries()) await keep(id, { partition: 3, offset });
    const place = { tenantId, partition: 3, offset: { $gte: 1, $lt: 3 } };
    const plan: unknown = await runQuery(({ events }) =>
      events.find(place).sort({ offset: 1 }).explain('executionStats'),
    );
    expect(JSON.stringify(plan)).toContain('"keyPattern":{"tenantId":1,"partition":1,"offset":1}');
    expect(JSON.stringify(plan)).not.toContain('COLLSCAN');
    expect(plan).toMatchObject({ executionStats: { nReturned: 2, totalDocsExamined: 2 } });
  });
});

describe('a cursor', () => {
  it('reads back as it was written', () => {
    const number = fc.nat({ max: 2 ** 51 });
    fc.assert(
      fc.property(number, number, fc.array(number, { maxLength: 20 }), (caughtUpAt, first, offsets) => {
        const cursor = { generation, caughtUpAt, first, offsets: new Map(offsets.entries()) };
        const text = formatCursor(cursor);
        expect(parseCursor(text)).toEqual(cursor);
        expect(encodeURIComponent(text)).toBe(text);
      }),
    );
  });

  it.each(['', 'a', '.', 'a.', '.a', 'a..b', 'A.b', 'a.b c', '-1.0', 'a.zzzzzzzzzzzz', 'now.0 '])(
    'is not %j',
    (text) => {
      expect(CURSOR.test(text)).toBe(false);
    },
  );
});
