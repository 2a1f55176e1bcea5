import type { KafkaRecord } from '@webhooks/kafka';
import { isDuplicate } from '@webhooks/mongodb';
import { randomName } from '@webhooks/testkit';
import type { Models } from '../../src/database.js';
import { writeRows } from '../../src/documents.js';
import { isRefusal, skipRefused } from '../../src/projection/projection.js';
import { recordOf } from '../delivery-log/support/entries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('refused'));
});
afterAll(() => test.close());

const TOO_LARGE = 16_777_300;
interface Row {
  readonly _id: string;
  readonly text: string;
  readonly version: number;
}
const rowOf = (id: string, text = 'text'): Row => ({ _id: id, text, version: 1 });
/** Of the collections one without indexes: what is written there is the test’s own. */
const collectionOf = ({ positions }: Models) => positions.collection;

const write = (...rows: readonly Row[]): Promise<unknown> =>
  test.database.within(30_000)((models) => writeRows(collectionOf(models), rows));
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a refusal', () => {
  it.each([
    ['a document of more than 16 MiB', TOO_LARGE],
    ['a document of more than the driver can encode', 4 * TOO_LARGE],
  ])('is what is told of %s, new or in the place of another', async (_name, length) => {
    const text = 'x'.repeat(length);
    const fresh = await errorOf(write(rowOf(randomName('row'), text)));
    expect([fresh, isRefusal(fresh)]).toEqual([expect.any(Error), true]);
    const known = randomName('row');
    await write(rowOf(known));
    const other = await errorOf(write({ ...rowOf(known, text), version: 2 }));
    expect([other, isRefusal(other)]).toEqual([expect.any(Error), true]);
  });

  it('is not assumed for a duplicate document, a timeout or a bug', async () => {
    const row = rowOf(randomName('row'));
    await test.database.within(5_000)((models) => collectionOf(models).insertOne(row as never));
    const again = await errorOf(
      test.database.within(5_000)((models) => collectionOf(models).insertOne(row as never)),
    );
    expect([isDuplicate(again), isRefusal(again)]).toEqual([true, false]);
    const late = await errorOf(test.database.within(0)(({ positions }) => positions.findOne({}).exec()));
    expect([late, isRefusal(late)]).toEqual([expect.any(Error), false]);
    const fault = await errorOf(Promise.resolve().then(() => new Date(Number.NaN).toISOString()));
    expect([fault, isRefusal(fault)]).toEqual([expect.any(RangeError), false]);
  });
});

describe('a projection', () => {
  const records = Array.from({ length: 9 }, (_, index) =>
    recordOf('topic', Buffer.from(randomName(`r${index}`))),
  );
  const idOf = ({ value }: KafkaRecord): string => String(value);
  const projectionOf = (apply: (some: readonly KafkaRecord[]) => Promise<unknown>) => {
    const told: [string, string][] = [];
    const projection = skipRefused(
      {
        name: 'test',
        topics: [],
        apply: async (some) => {
          await apply(some);
        },
      },
      (record, reason) => told.push([idOf(record), reason]),
    );
    return { projection, told };
  };

  it('writes every record that the database accepts, and reports the others', async () => {
    const bad = new Set([records[2], records[7]]);
    const { projection, told } = projectionOf((some) =>
      write(...some.map((record) => rowOf(idOf(record), bad.has(record) ? 'x'.repeat(TOO_LARGE) : 'text'))),
    );
    await projection.apply(records);
    expect(told).toEqual([...bad].map((record) => [record && idOf(record), 'refused']));
    const ids = records.map(idOf);
    const written = await test.database.within(5_000)((models) =>
      collectionOf(models)
        .find({ _id: { $in: ids as never[] } })
        .toArray(),
    );
    expect(written.map(({ _id }) => String(_id)).sort()).toEqual(
      records
        .filter((record) => !bad.has(record))
        .map(idOf)
        .sort(),
    );
  });

  it('passes on any other fault, so that the batch is tried again', async () => {
    const { projection, told } = projectionOf(() => Promise.reject(new Error('the database is away')));
    await expect(projection.apply(records)).rejects.toThrow('away');
    expect(told).toEqual([]);
  });
});
