import type { PaymentEvent } from '@webhooks/contracts';
import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { eventually, randomName } from '@webhooks/testkit';
import { storeEvents, storeTestEvent } from '../../src/payments/event-store.js';
import { MAX_EVENTS } from '../../src/payments/find-events.js';
import { createListOperation } from '../../src/payments/list-transactions.js';
import { faultOf } from '../support/openapi.js';
import { E2E, eventRecord, fixed, OTHER_E2E, out, paid, reversal, RTR, TX } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const MONTH_MS = 31 * 86_400_000;
let open: TestDatabase;
let tenantId: string;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_list'));
});
beforeEach(() => {
  tenantId = randomName('tenant');
});
afterAll(() => open.close());

const within = () => open.database.within(20_000);
const operation = createListOperation({ lists: createConcurrencyLimiter({ total: 8 }), within });

const keep = (events: readonly PaymentEvent[]): Promise<unknown> =>
  storeEvents(
    within(),
    events.map((event) => eventRecord(event)),
  );
const at = (time: string): string => `2026-11-21T${time}Z`;
const DAY = { from: at('00:00:00'), to: '2026-11-22T00:00:00Z' };

interface Page {
  readonly data: readonly { readonly eventId: string }[];
  readonly results: number;
  readonly nextCursor?: string;
}

async function list(query: Readonly<Record<string, string>>, tenant = tenantId): Promise<Page> {
  const request = {
    identity: { clientId: 'client', tenantId: tenant, scopes: new Set() },
    query: new URLSearchParams(query),
  };
  const { body } = await operation.handle(request as unknown as ApiRequest);
  const page = JSON.parse(JSON.stringify(body)) as Page;
  expect(faultOf({ $ref: '#/components/schemas/TransactionList' }, page)).toBeUndefined();
  return page;
}
const idsOf = ({ data }: Page): readonly string[] => data.map(({ eventId }) => eventId);

/** Reads all pages: the ids, and how many each page had. */
async function readAll(query: Readonly<Record<string, string>>) {
  const [ids, sizes]: [string[], number[]] = [[], []];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: Page = await list({ ...query, ...(cursor && { cursor }) });
    ids.push(...idsOf(page));
    sizes.push(page.results);
    cursor = page.nextCursor;
  }
  return { ids, sizes };
}

it('shows each event of a day in short, the newest first, and no test and no neighbour', async () => {
  const events = [
    paid({}, { tenantId, id: 'paid', occurredAt: at('14:03:27.512') }),
    reversal({ txId: TX }, { tenantId, id: 'reversed', occurredAt: at('15:00:00') }),
    out({ amount: '087.30' }, { tenantId, id: 'out', occurredAt: at('14:03:27.511999') }),
    fixed({}, { tenantId, id: 'later', occurredAt: '2026-11-22T00:00:00Z' }),
    fixed({}, { tenantId, id: 'before', occurredAt: '2026-11-20T23:59:59.999Z' }),
    fixed({}, { tenantId: `${tenantId}0`, id: 'foreign', occurredAt: at('14:00:00') }),
    fixed({}, { tenantId, id: 'evt_test_0', occurredAt: at('14:00:00') }),
  ];
  await keep(events);
  await storeTestEvent(within(), fixed({}, { tenantId, id: 'evt_test_1', occurredAt: at('14:00:00') }));
  expect(await list(DAY)).toEqual({
    data: [
      {
        ...{ eventId: 'reversed', endToEndId: E2E, eventType: 'PIX_REVERSAL', txId: TX, amount: '10.00' },
        ...{ occurredAt: at('15:00:00'), status: 'DEVOLVIDO', reversalId: 'r1', rtrId: RTR },
      },
      {
        ...{ eventId: 'paid', endToEndId: E2E, eventType: 'PIX_DYNAMIC_PAID', txId: TX, amount: '110.00' },
        occurredAt: at('14:03:27.512'),
      },
      {
        ...{ eventId: 'out', endToEndId: E2E, eventType: 'PIX_OUT', amount: '87.30', status: 'REALIZADO' },
        occurredAt: at('14:03:27.511999'),
      },
    ],
    results: 3,
  });
});

it.each([
  [{ amount: '87.30' }, ['b', 'a']],
  [{ amount: '087.30', eventType: 'PIX_OUT' }, ['b']],
  [{ eventType: 'PIX_STATIC' }, ['c', 'a']],
  [{ status: 'NAO_REALIZADO' }, ['e', 'd']],
  [{ status: 'NAO_REALIZADO', eventType: 'PIX_REVERSAL' }, ['e']],
  [{ status: 'REALIZADO', amount: '87.31' }, []],
  [{ from: at('14:00:02'), to: at('14:00:04') }, ['d', 'c']],
])('shows what matches all filters: %j', async (filter, expected) => {
  const id = (name: string, second: number) => ({ tenantId, id: name, occurredAt: at(`14:00:0${second}`) });
  await keep([
    fixed({ amount: '87.30' }, id('a', 0)),
    out({ amount: '87.30', endToEndId: OTHER_E2E }, id('b', 1)),
    fixed({ amount: '8730.00' }, id('c', 2)),
    out({ status: 'NAO_REALIZADO' }, id('d', 3)),
    reversal({ status: 'NAO_REALIZADO' }, id('e', 4)),
  ]);
  expect(idsOf(await list({ ...DAY, ...filter }))).toEqual(expected);
});

it('pages neither skip nor repeat an event, of many within one millisecond', async () => {
  const events = Array.from({ length: 25 }, (_, index) =>
    fixed({}, { tenantId, id: `e-${index}`, occurredAt: at(`14:00:00.00${index % 3}`) }),
  );
  await keep(events);
  const { ids, sizes } = await readAll({ ...DAY, limit: '4' });
  expect(ids.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  expect(sizes).toEqual([4, 4, 4, 4, 4, 4, 1]);
  expect((await readAll({ ...DAY, limit: '4', amount: '7.05' })).ids).toEqual(ids);
});

it('a page looks at a bounded number of events, and the next one goes on behind them', async () => {
  const second = (index: number) => new Date(Date.parse(at('10:00:00')) + index * 1_000).toISOString();
  const events = Array.from({ length: MAX_EVENTS + 5 }, (_, index) =>
    fixed({ amount: index < 2 ? '1.00' : '2.00' }, { tenantId, id: `e${index}`, occurredAt: second(index) }),
  );
  await keep(events);
  expect(await readAll({ ...DAY, amount: '1.00' })).toEqual({ ids: ['e1', 'e0'], sizes: [0, 2] });
  const limits: unknown[] = [];
  open.onCommand(({ command }) => command['find'] === 'events' && limits.push(command['limit']));
  await list({ ...DAY, amount: '1.00' });
  await list({ ...DAY, limit: '10' });
  expect(limits).toEqual([MAX_EVENTS + 1, 11]);
});

it('is read through its index', async () => {
  await keep([fixed({}, { tenantId })]);
  const plan: unknown = await within()(({ events }) =>
    events
      .find({ tenantId, place: { $gte: '0', $lt: 'z' } })
      .sort({ place: -1 })
      .explain('executionStats'),
  );
  const text = JSON.stringify(plan);
  expect(text).toContain('"keyPattern":{"tenantId":1,"place":1}');
  expect(text).not.toContain('COLLSCAN');
  expect(plan).toMatchObject({ executionStats: { nReturned: 1, totalDocsExamined: 1 } });
});

it.each([
  [{}, 'from', 'is required'],
  [{ from: at('00:00:00'), to: at('00:00:00') }, 'from', 'must be before to'],
  [{ from: '9999-01-01T00:00:00Z' }, 'from', 'must be before to'],
  [
    { from: '2026-10-21T23:59:59.999Z', to: at('23:59:59.999999') },
    'from',
    'must be at most 31 days before to',
  ],
  [{ ...DAY, amount: '87.3' }, 'amount', 'must be reais with two decimals after a point, such as 110.00'],
  [{ ...DAY, status: 'DONE' }, 'status', 'must be one of REALIZADO, NAO_REALIZADO, DEVOLVIDO'],
  [{ ...DAY, endToEndId: E2E }, 'endToEndId', 'is not a known parameter'],
])('refuses %j with 422', async (query, property, reason) => {
  await expect(list(query)).rejects.toMatchObject({
    code: 'invalid-request',
    violations: [{ property, reason }],
  });
});

it('a list of the last 31 days is read to its end, however long its reader takes', async () => {
  const occurredAt = new Date(Date.now() - 3_600_000).toISOString();
  await keep([1, 2].map((one) => fixed({}, { tenantId, id: `e${one}`, occurredAt })));
  const firstMs = Date.now() - MONTH_MS + 200;
  const from = new Date(firstMs).toISOString();
  const cursor = (await list({ from, limit: '1' })).nextCursor ?? '';
  await eventually(() => Date.now() > firstMs + MONTH_MS);
  await expect(list({ from })).rejects.toMatchObject({ code: 'invalid-request' });
  expect(idsOf(await list({ from, cursor }))).toEqual(['e1']);
});
