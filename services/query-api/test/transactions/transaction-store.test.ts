import { randomName } from '@webhooks/testkit';
import { transactionId } from '../../src/transactions/transaction-model.js';
import type { TransactionRow } from '../../src/transactions/transaction-model.js';
import type { TransactionStore } from '../../src/transactions/store-facts.js';
import { findOfCharge, findTransaction, transactionStore } from '../../src/transactions/transaction-store.js';
import { E2E, merge, OTHER_E2E, OTHER_TX, paid, reversal, TX } from './support/events.js';
import { memoryStore } from './support/memory-store.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

let open: TestDatabase;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_transactions'));
});
afterAll(async () => {
  await open.close();
});

const MS = 20_000;

const rowOf = (tenantId: string, version: number, endToEndId = E2E): TransactionRow => ({
  _id: transactionId(tenantId, endToEndId),
  ...merge(undefined, [
    paid({ endToEndId, amount: `${version}.00` }, { tenantId }),
    reversal({ endToEndId }, { tenantId }),
  ]),
  version,
});

const STORES: readonly (readonly [string, () => TransactionStore])[] = [
  ['memory', () => memoryStore()],
  ['MongoDB', () => transactionStore(open.database.within(MS))],
];

describe.each(STORES)('the store in %s', (_name, openStore) => {
  const read = async (store: TransactionStore, tenantId: string) =>
    (await store.read([transactionId(tenantId, E2E), transactionId(tenantId, OTHER_E2E)])).toSorted(
      (left, right) => left._id.localeCompare(right._id),
    );

  it('gives back what was written, and nothing for what was not', async () => {
    const store = openStore();
    const tenantId = randomName('tenant');
    expect(await read(store, tenantId)).toEqual([]);
    const row = rowOf(tenantId, 1);
    expect(await store.write([{ readVersion: undefined, row }])).toBe(true);
    expect(await read(store, tenantId)).toStrictEqual([row]);
  });

  it('inserts no document twice', async () => {
    const store = openStore();
    const tenantId = randomName('tenant');
    const [row, late] = [rowOf(tenantId, 1), { ...rowOf(tenantId, 1), txIds: [] }];
    expect(await store.write([{ readVersion: undefined, row }])).toBe(true);
    expect(await store.write([{ readVersion: undefined, row: late }])).toBe(false);
    expect(await read(store, tenantId)).toStrictEqual([row]);
  });

  it('replaces the version that was read, and no other one', async () => {
    const store = openStore();
    const tenantId = randomName('tenant');
    await store.write([{ readVersion: undefined, row: rowOf(tenantId, 1) }]);
    expect(await store.write([{ readVersion: 1, row: rowOf(tenantId, 2) }])).toBe(true);
    expect(await store.write([{ readVersion: 1, row: rowOf(tenantId, 3) }])).toBe(false);
    expect(await read(store, tenantId)).toStrictEqual([rowOf(tenantId, 2)]);
  });

  it('makes no document by replacing one that is not there', async () => {
    const store = openStore();
    const tenantId = randomName('tenant');
    expect(await store.write([{ readVersion: 1, row: rowOf(tenantId, 2) }])).toBe(false);
    expect(await read(store, tenantId)).toEqual([]);
  });

  it('writes the others when somebody else was faster at some', async () => {
    const store = openStore();
    const tenantId = randomName('tenant');
    await store.write([{ readVersion: undefined, row: rowOf(tenantId, 1) }]);
    const result = await store.write([
      { readVersion: undefined, row: rowOf(tenantId, 9) },
      { readVersion: undefined, row: rowOf(tenantId, 1, OTHER_E2E) },
    ]);
    expect(result).toBe(false);
    expect(await read(store, tenantId)).toStrictEqual([rowOf(tenantId, 1), rowOf(tenantId, 1, OTHER_E2E)]);
    const mixed = await store.write([
      { readVersion: 7, row: rowOf(tenantId, 8) },
      { readVersion: 1, row: rowOf(tenantId, 2, OTHER_E2E) },
    ]);
    expect(mixed).toBe(false);
    expect(await read(store, tenantId)).toStrictEqual([rowOf(tenantId, 1), rowOf(tenantId, 2, OTHER_E2E)]);
  });
});

describe('the queries', () => {
  it('find a transaction and the transactions of a charge for their tenant only, in a fixed order', async () => {
    const tenantId = randomName('tenant');
    const ask = open.database.within(MS);
    await transactionStore(ask).write([
      { readVersion: undefined, row: rowOf(tenantId, 1, OTHER_E2E) },
      { readVersion: undefined, row: rowOf(tenantId, 1) },
    ]);
    expect(await findTransaction(ask, tenantId, E2E)).toStrictEqual(
      merge(undefined, [paid({ amount: '1.00' }, { tenantId }), reversal({}, { tenantId })]),
    );
    const found = await findOfCharge(ask, tenantId, TX);
    expect(found.map(({ endToEndId }) => endToEndId)).toEqual([E2E, OTHER_E2E]);
    expect(await findOfCharge(ask, tenantId, OTHER_TX)).toEqual([]);
    expect(await findOfCharge(ask, 'other', TX)).toEqual([]);
    expect(await findTransaction(ask, 'other', E2E)).toBeUndefined();
  });

  it('keep upper and lower case apart', async () => {
    const tenantId = randomName('tenant');
    const ask = open.database.within(MS);
    await transactionStore(ask).write([{ readVersion: undefined, row: rowOf(tenantId, 1) }]);
    expect(await findTransaction(ask, tenantId, E2E.toLowerCase())).toBeUndefined();
    expect(await findOfCharge(ask, tenantId, TX.toUpperCase())).toEqual([]);
  });

  it('of a charge use the index', async () => {
    const ask = open.database.within(MS);
    const plan = await ask(({ transactions }) =>
      transactions
        .find({ tenantId: 'acme', txIds: TX })
        .sort({ _id: 1 })
        .limit(1_001)
        .explain('queryPlanner'),
    );
    const text = JSON.stringify(plan);
    expect(text).toContain('IXSCAN');
    expect(text).toContain('tenantId_1_txIds_1__id_1');
    expect(text).not.toContain('COLLSCAN');
  });
});
