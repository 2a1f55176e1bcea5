import { randomName } from '@webhooks/testkit';
import { cursorKeyringOf, forgetReading, readingOf } from '../../src/projection/reading.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';

it('instances that begin together have one key of cursors, which a new reading keeps and another database has not', async () => {
  const name = randomName('reading');
  const databases = await Promise.all(
    [name, name, randomName('reading')].map((one) => openTestDatabase(one)),
  );
  const asks = databases.map(({ database }) => database.within(20_000));
  const [ask] = asks;
  if (!ask) throw new Error('expected a database');
  const keysOf = async () =>
    (await Promise.all(asks.map(cursorKeyringOf))).map(({ keys }) =>
      keys.map(({ key }) => key.toString('hex')),
    );
  const [first, second, other] = await keysOf();
  expect(second).toEqual(first);
  expect(other).not.toEqual(first);
  const reading = await readingOf(ask);
  await ask(({ positions }) => forgetReading(positions));
  expect(await readingOf(ask)).not.toBe(reading);
  expect((await keysOf())[0]).toEqual(first);
  await Promise.all(databases.map((one) => one.close()));
});
