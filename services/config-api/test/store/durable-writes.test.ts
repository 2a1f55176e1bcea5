import { testMongoUri } from '@webhooks/local';
import { openConnection } from '@webhooks/mongodb';
import { Closers, HealthBoard, NO_TRACING, Registry } from '@webhooks/runtime';
import { randomName } from '@webhooks/testkit';

const closers = new Closers();
const silent = (): undefined => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
afterAll(() => closers.closeAll(log, 10_000));

it('a write waits until a majority has it on disk, and is tried again by the driver unless the operator forbids it', async () => {
  const database = randomName('durable');
  const connection = await openConnection(
    // As an operator writes it, who says nothing of writes.
    { uri: testMongoUri(database).replace('retryWrites=false&', ''), database, uriFile: undefined },
    { modelsOn: (made) => made },
    {
      log,
      registry: new Registry(),
      health: new HealthBoard(),
      onClose: (name, close) => closers.add(name, close),
      addPage: silent,
      tracing: NO_TRACING,
      fail: silent,
    },
  );
  const { writeConcern, retryWrites, readPreference } = connection()?.getClient().options ?? {};
  expect(writeConcern).toMatchObject({ w: 'majority', journal: true });
  expect(retryWrites).toBe(true);
  expect(readPreference?.mode).toBe('primary');
});
