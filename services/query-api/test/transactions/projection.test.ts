import type { PaymentEvent } from '@webhooks/contracts';
import { renderNotification } from '@webhooks/contracts';
import type { ApiRequest } from '@webhooks/http-api';
import type { KafkaRecord } from '@webhooks/kafka';
import type { Ask } from '@webhooks/mongodb';
import { createRandom, randomName } from '@webhooks/testkit';
import type { Database, Models } from '../../src/database.js';
import { composeTransactions } from '../../src/transactions/compose.js';
import { findNotification } from '../../src/transactions/notification-store.js';
import { projectTestEvent } from '../../src/transactions/project-events.js';
import { findTransaction, transactionStore } from '../../src/transactions/transaction-store.js';
import { viewTransaction } from '../../src/transactions/view-transaction.js';
import { E2E, eventRecord, merge, OTHER_E2E, paid, recordOf, reversal, TX } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const name = randomName('query_projection');
const MS = 30_000;
let first: TestDatabase;
let second: TestDatabase;
beforeAll(async () => {
  first = await openTestDatabase(name);
  second = await openTestDatabase(name);
});
afterAll(async () => {
  await first.close();
  await second.close();
});

const projectionOn = (database: Database) =>
  composeTransactions({ database, catchUp: () => undefined }).projection;

/** Events of two transactions: reversals told twice with contradictions, and a payment of each. */
function storyOf(tenantId: string, reversals: number): PaymentEvent[] {
  const told = (endToEndId: string): PaymentEvent[] => [
    paid({ endToEndId }, { tenantId, id: `paid_${endToEndId.slice(-1)}` }),
    ...Array.from({ length: reversals }, (_, at) => {
      const status = at % 3 === 0 ? 'NAO_REALIZADO' : 'DEVOLVIDO';
      const rtrId = `D${String(at >> 1).padStart(31, '0')}`;
      return reversal({ endToEndId, rtrId, status }, { tenantId, id: `r${at}_${endToEndId.slice(-1)}` });
    }),
  ];
  return [...told(E2E), ...told(OTHER_E2E)];
}

const expected = (events: readonly PaymentEvent[], endToEndId: string) =>
  merge(
    undefined,
    events.filter(({ data }) => data.endToEndId === endToEndId),
  );

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = createRandom(seed);
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((left, right) => left.at - right.at)
    .map(({ item }) => item);
}

async function expectStory(tenantId: string, events: readonly PaymentEvent[]): Promise<void> {
  const ask = first.database.within(MS);
  for (const endToEndId of [E2E, OTHER_E2E]) {
    expect(await findTransaction(ask, tenantId, endToEndId)).toStrictEqual(expected(events, endToEndId));
  }
  for (const event of events) {
    const kept = await findNotification(ask, tenantId, event.id);
    expect(kept?.body).toEqual(renderNotification(event));
  }
}

async function expectOnly(tenantId: string, event: PaymentEvent): Promise<void> {
  const found = await findTransaction(first.database.within(MS), tenantId, E2E);
  expect(found).toStrictEqual(merge(undefined, [event]));
}

const versions = (tenantId: string): Promise<number[]> =>
  first.database.within(MS)(async ({ transactions }) =>
    (await transactions.find({ tenantId }).sort({ _id: 1 }).lean().exec()).map(({ version }) => version),
  );

const project = async (database: Database, events: readonly PaymentEvent[], batch: number): Promise<void> => {
  const records = events.map((event) => eventRecord(event));
  const { apply } = projectionOn(database);
  while (records.length > 0) await apply(records.splice(0, batch));
};

it('instances that read different events of the same transactions lose none of them to each other', async () => {
  const tenantId = randomName('tenant');
  const events = shuffled(storyOf(tenantId, 12), 1);
  const databases = [first.database, second.database, first.database];
  await Promise.all(
    databases.map((database, part) =>
      project(
        database,
        events.filter((_, at) => at % databases.length === part),
        1,
      ),
    ),
  );
  await expectStory(tenantId, events);
});

it('two instances that project the same events at the same time come to the merged documents', async () => {
  const tenantId = randomName('tenant');
  const events = storyOf(tenantId, 12);
  await Promise.all([
    project(first.database, shuffled(events, 2), 2),
    project(second.database, shuffled(events, 3), 5),
  ]);
  await expectStory(tenantId, events);
  const before = await versions(tenantId);
  await project(second.database, shuffled(events, 4), 100);
  expect(await versions(tenantId)).toEqual(before);
});

/** A database whose statements fail from the `failing`th on: as when the process ends in the middle of a batch. */
const endingAt = (failing: number, { database }: TestDatabase): Database => {
  let statements = 0;
  return {
    ...database,
    within: (ms) => {
      const ask = database.within(ms);
      const ending: Ask<Models> = (statement) => {
        statements += 1;
        return statements >= failing ? Promise.reject(new Error('ended')) : ask(statement);
      };
      return ending;
    },
  };
};

it.each([
  ['new', 1],
  ['new', 2],
  ['known', 1],
  ['known', 2],
  ['known', 3],
  ['known', 4],
])(
  'a process that ends in a batch about %s transactions before statement %d is made good by a repetition',
  async (about, failing) => {
    const tenantId = randomName('tenant');
    const events = storyOf(tenantId, 4);
    const records = events.map((event) => eventRecord(event));
    const ofBoth = [records[0], records.at(-1)].filter((record) => record !== undefined);
    if (about === 'known') await projectionOn(first.database).apply(ofBoth);
    await expect(projectionOn(endingAt(failing, first)).apply(records)).rejects.toThrow('ended');
    await projectionOn(second.database).apply(records);
    await expectStory(tenantId, events);
    expect(await versions(tenantId)).toEqual(about === 'known' ? [2, 2] : [1, 1]);
  },
);

it('an instance whose connection is cut while it writes is made good by another one', async () => {
  const tenantId = randomName('tenant');
  const events = storyOf(tenantId, 40);
  const records = events.map((event) => eventRecord(event));
  const third = await openTestDatabase(name);
  const cut = projectionOn(third.database)
    .apply(records)
    .catch((error: unknown) => error);
  await third.close();
  await cut;
  await projectionOn(second.database).apply(records);
  await expectStory(tenantId, events);
});

it('records that cannot be read are passed over, and the others of the batch are written', async () => {
  const tenantId = randomName('tenant');
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
  await expectOnly(tenantId, event);
});

it('a test event resolves to a record that says so, until a real one takes its place', async () => {
  const tenantId = randomName('tenant');
  const ask = first.database.within(MS);
  await projectTestEvent(paid({}, { tenantId, id: 'test_1' }), transactionStore(ask));
  const found = await findTransaction(ask, tenantId, E2E);
  expect(found && viewTransaction(found)).toMatchObject({ test: true, txId: TX });
  const real = paid({}, { tenantId });
  await projectionOn(first.database).apply([eventRecord(real)]);
  await expectOnly(tenantId, real);
});

describe('the operations', () => {
  const requestOf = (tenantId: string): ApiRequest => ({
    identity: { clientId: 'client', tenantId, scopes: new Set() },
    requestId: 'request',
    params: { txId: TX },
    query: new URLSearchParams(),
    header: () => undefined,
    body: Buffer.alloc(0),
  });

  it('answer what was projected, and know of nothing to be absent while the projection does not run', async () => {
    const tenantId = randomName('tenant');
    const { operations, projection } = composeTransactions({
      database: first.database,
      catchUp: () => undefined,
    });
    const [cob] = operations;
    await expect(cob?.handle(requestOf(tenantId))).rejects.toMatchObject({ code: 'unavailable' });
    await projection.apply([eventRecord(paid({}, { tenantId }))]);
    expect(await cob?.handle(requestOf(tenantId))).toMatchObject({
      status: 200,
      body: { txId: TX, status: 'CONCLUIDA', pix: [{ endToEndId: E2E, amount: '110.00' }] },
    });
  });

  it('belong to a projection of payments.events', () => {
    expect(projectionOn(first.database)).toMatchObject({
      name: 'events',
      topics: ['payments.events'],
    });
  });
});
