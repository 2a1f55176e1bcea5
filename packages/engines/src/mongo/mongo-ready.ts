import { MongoClient, MongoServerError } from 'mongodb';
import { randomUUID } from 'node:crypto';
import { errorText } from '../error-text.js';
import { pollUntil } from '../poll.js';
import { checkUniqueIndex } from './unique-index-check.js';

const ATTEMPT_MS = 2_000;

export interface MongoReadyOptions {
  readonly deadlineMs: number;
  /** True when waiting makes no sense any more, e.g. because the process has ended. */
  readonly givenUp?: () => boolean;
}

/** Waits until the server answers `ping`; answers undefined, or why it did not when the deadline has passed. */
export async function awaitMongo(
  uri: string,
  { deadlineMs, givenUp = () => false }: MongoReadyOptions,
): Promise<string | undefined> {
  let obstacle: string | undefined;
  await pollUntil(
    async () => {
      obstacle = await withClient(uri, async (client) => {
        await client.db('admin').command({ ping: 1 });
      });
      return obstacle === undefined || givenUp();
    },
    { deadlineMs },
  );
  return obstacle;
}

/** Runs the self-test on a database of its own; answers what the server got wrong, or undefined. */
export function selfTestMongo(uri: string): Promise<string | undefined> {
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
