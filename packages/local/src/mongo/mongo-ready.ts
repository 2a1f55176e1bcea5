import { errorText } from '../engine/error-text.js';
import { untilClear, type PollOptions } from '../engine/poll.js';

const ATTEMPT_MS = 2_000;

/** Waits until the server answers `ping`; answers undefined, or why it did not when the deadline has passed. */
export const awaitMongo = (uri: string, pollOptions: PollOptions): Promise<string | undefined> =>
  untilClear(() => ping(uri), pollOptions);

async function ping(uri: string): Promise<string | undefined> {
  // Loaded only here: most users of this package start no database.
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(uri, {
    serverSelectionTimeoutMS: ATTEMPT_MS,
    connectTimeoutMS: ATTEMPT_MS,
  });
  try {
    await client.db('admin').command({ ping: 1 });
    return undefined;
  } catch (error) {
    return errorText(error);
  } finally {
    await client.close();
  }
}
