import { MongoClient, MongoServerError, type Collection } from 'mongodb';
import { randomUUID } from 'node:crypto';
import { errorText } from '../error-text.js';
import { pollUntil } from '../poll.js';

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

/**
 * Refuses a server that gets unique indexes wrong: a key must become free when the document moves away from it, and
 * must be refused with error code 11000 when an update would double it. Answers what went wrong, or undefined.
 */
export function selfTestMongo(uri: string): Promise<string | undefined> {
  return withClient(uri, async (client) => {
    const database = client.db(`engines_self_test_${randomUUID().slice(0, 8)}`);
    try {
      await checkUniqueIndex(database.collection('keys'));
    } finally {
      await database.dropDatabase();
    }
  });
}

async function checkUniqueIndex(keys: Collection): Promise<void> {
  await keys.createIndex({ key: 1 }, { unique: true }, undefined);
  await keys.insertOne({ key: 'first' });
  await keys.updateOne({ key: 'first' }, { $set: { key: 'second' } });
  await keys.insertOne({ key: 'first' });
  await expectConflict('update', () => keys.updateOne({ key: 'second' }, { $set: { key: 'first' } }));
  await expectConflict('insert', () => keys.insertOne({ key: 'second' }));
  const count = await keys.countDocuments({});
  if (count !== 2) throw new Error(`self-test: expected 2 documents, came ${count}`);
}

async function expectConflict(what: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 11_000) return;
    throw error;
  }
  throw new Error(`self-test: an ${what} that doubles a unique key was accepted`);
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
