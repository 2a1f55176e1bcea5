import { randomName } from '@webhooks/testkit';
import { cursorKeyringOf, forgetGeneration, generationOf } from '../../src/projection/generation.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';

it('instances that start together share one cursor key, which new generations keep and other databases do not have', async () => {
  const name = randomName('reading');
  const databases = await Promise.all(
    [name, name, randomName('reading')].map((one) => openTestDatabase(one)),
  );
  const queries = databases.map(({ database }) => database.within(20_000));
  const [runQuery] = queries;
  if (!runQuery) throw new Error('expected a database');
  const keysOf = async () =>
    (await Promise.all(queries.map(cursorKeyringOf))).map(({ keys }) =>
      keys.map(({ key }) => key.toString('hex')),
    );
  const [first, second, other] = await keysOf();
  expect(second).toEqual(first);
  expect(other).not.toEqual(first);
  const generation = await generationOf(runQuery);
  await runQuery(({ positions }) => forgetGeneration(positions));
  expect(await generationOf(runQuery)).not.toBe(generation);
  expect((await keysOf())[0]).toEqual(first);
  await Promise.all(databases.map((one) => one.close()));
});
