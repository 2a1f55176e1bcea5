import { randomName } from '@webhooks/testkit';
import { OUTDATED_INDEXES } from '../../src/delivery-log/delivery-model.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';

const deliveriesOf = ({ database }: Awaited<ReturnType<typeof openTestDatabase>>) => {
  const models = database.models();
  if (!models) throw new Error('expected the database of the tests to be there');
  return models.deliveries.collection;
};

const namesOf = async (collection: ReturnType<typeof deliveriesOf>): Promise<readonly string[]> =>
  (await collection.indexes()).map(({ name }) => name ?? '').sort();

it('a database of an earlier version loses the indexes that are not needed any more, and no others', async () => {
  const name = randomName('query_outdated');
  const before = await openTestDatabase(name);
  const wanted = await namesOf(deliveriesOf(before));
  const keyOf = (index: string): Record<string, 1> =>
    Object.fromEntries(index.split(/_1_?/).flatMap((part) => (part === '' ? [] : [[part, 1]])));
  const outdated = OUTDATED_INDEXES.map((index) => ({ key: keyOf(index), name: index }));
  await deliveriesOf(before).createIndexes(outdated);
  expect(await namesOf(deliveriesOf(before))).toEqual([...wanted, ...OUTDATED_INDEXES].sort());
  await before.close();
  const after = await openTestDatabase(name);
  expect(await namesOf(deliveriesOf(after))).toEqual(wanted);
  await after.close();
});
