import { testMongoUri } from '@webhooks/engines';
import { Closers, HealthBoard, Registry } from '@webhooks/runtime';
import { openDatabase } from '../../../src/database.js';
import type { Database } from '../../../src/database.js';

export interface TestDatabase {
  readonly database: Database;
  close(): Promise<void>;
}

/** The database of this service as one instance opens it. */
export async function openTestDatabase(name: string): Promise<TestDatabase> {
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const closers = new Closers();
  const database = await openDatabase(
    { uri: testMongoUri(name), database: name },
    {
      log,
      registry: new Registry(),
      health: new HealthBoard(),
      onClose: (what, close) => closers.add(what, close),
      addPage: silent,
      fail: silent,
    },
  );
  if (database.models() === undefined) throw new Error('expected the database of the tests to be there');
  return {
    database,
    close: async () => {
      await closers.closeAll(log, 10_000);
    },
  };
}
