import { MongoClient, MongoServerError } from 'mongodb';
import { randomUUID } from 'node:crypto';
import { errorText } from '../error-text.js';
import { untilClear, type Patience } from '../poll.js';
import { checkUniqueIndex } from './unique-index-check.js';

const ATTEMPT_MS = 2_000;

/** Waits until the server answers `ping`; answers undefined, or why it did not when the deadline has passed. */
export const awaitMongo = (uri: string, patience: Patience): Promise<string | undefined> =>
  untilClear(
    () =>
      withClient(uri, async (client) => {
        await client.db('admin').command({ ping: 1 });
      }),
    patience,
  );

/** Of an engine of ours: it answers and gets unique indexes right. */
export const awaitSoundMongo = async (uri: string, patience: Patience): Promise<string | undefined> =>
  (await awaitMongo(uri, patience)) ?? (await selfTestMongo(uri));

/** Runs the self-test on a database of its own; answers what the server got wrong, or undefined. */
function selfTestMongo(uri: string): Promise<string | undefined> {
  return withClient(uri, async (client) => {
    const database = client.db(`engines_self_test_${randomUUID().slice(0, 8)}`);
    const keys = database.collection('keys');
    try {
      await keys.createIndex({ key: 1 }, { unique: true }, undefined);
      await checkUniqueIndex({
        insert: (key) => keys.insertOne({ key }),
        move: (from, to) => keys.updateOne({ key: from }, { $set: { key: to } }),
        count: () => keys.countDocuments({}),
        isConflict: (error) => error instanceof MongoServerError && error.code === 11_000,
      });
    } finally {
      await database.dropDatabase();
    }
  });
}

async function withClient(
  uri: string,
  work: (client: MongoClient) => Promise<void>,
): Promise<string | undefined> {
  const client = new MongoClient(uri, {
    serverSelectionTimeoutMS: ATTEMPT_MS,
    connectTimeoutMS: ATTEMPT_MS,
  });
  try {
    await work(client);
    return undefined;
  } catch (error) {
    return errorText(error);
  } finally {
    await client.close();
  }
}
