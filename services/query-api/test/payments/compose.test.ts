import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiRequest, Operation } from '@webhooks/http-api';
import { randomName } from '@webhooks/testkit';
import type { CatchUp } from '../../src/projection/catch-up.js';
import { composePayments } from '../../src/payments/compose.js';
import { storeEvents } from '../../src/payments/event-store.js';
import { E2E, eventRecord, OTHER_E2E, paid, TX } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

let open: TestDatabase;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_compose'));
});
afterAll(async () => {
  await open.close();
});

/** A query, asked by so many at once: the bodies of their responses. */
type RunQuery = (tenantId: string, count: number) => Promise<readonly unknown[]>;

function openQueries(): Readonly<Record<'charge' | 'pix', RunQuery>> {
  const { operations } = composePayments({
    database: open.database,
    catchUp: () => ({ wait: () => Promise.resolve('passed') }) as CatchUp,
    retentionMs: 1,
    waiting: { total: 1, perTenant: 1 },
    lists: createConcurrencyLimiter({ total: 8 }),
  });
  const [cob, transaction] = operations;
  if (!cob || !transaction) throw new Error('expected two operations');
  const request = (tenantId: string): ApiRequest => ({
    identity: { clientId: 'client', tenantId, scopes: new Set() },
    requestId: 'request',
    params: { txId: TX },
    query: new URLSearchParams(),
    header: () => undefined,
    body: Buffer.alloc(0),
    isOver: () => false,
  });
  const ask = async (operation: Operation, tenantId: string, query: string, count: number) => {
    const asked = { ...request(tenantId), query: new URLSearchParams(query) };
    const replies = await Promise.all(Array.from({ length: count }, () => operation.handle(asked)));
    return replies.map(({ body }) => body);
  };
  return {
    charge: (tenantId, count) => ask(cob, tenantId, '', count),
    pix: (tenantId, count) => ask(transaction, tenantId, `endToEndId=${E2E}`, count),
  };
}

it.each(['charge', 'pix'] as const)('concurrent requests for one %s share one body', async (what) => {
  const [tenantId, other] = [randomName('tenant'), randomName('tenant')];
  const events = [
    paid({}, { tenantId }),
    paid({ endToEndId: OTHER_E2E }, { tenantId, id: 'evt_2' }),
    paid({ amount: '1.00' }, { tenantId: other }),
  ];
  await storeEvents(
    open.database.within(20_000),
    events.map((event) => eventRecord(event)),
  );
  const queries = openQueries();
  const [bodies, [foreign]] = await Promise.all([queries[what](tenantId, 64), queries[what](other, 1)]);
  expect(new Set(bodies).size).toBe(1);
  expect(JSON.parse(String(bodies[0]))).toMatchObject({
    amount: what === 'charge' ? '220.00' : '110.00',
  });
  expect(JSON.parse(String(foreign))).toMatchObject({ amount: '1.00' });
  const [later] = await queries[what](tenantId, 1);
  expect(later).toEqual(bodies[0]);
  expect(later).not.toBe(bodies[0]);
});
