import { ANSWER_DEADLINE_MS } from '../engine/deadline.js';
import { foreignEngine } from '../engine/engine-lifecycle.js';
import { withDatabase } from './connection-string.js';
import type { MongoEngine } from './mongo-engine.js';
import { awaitMongo } from './mongo-ready.js';

/** The server that `address` (a connection string) names; throws when it does not answer within the deadline. */
export async function useMongoAddress(
  address: string,
  deadlineMs = ANSWER_DEADLINE_MS,
): Promise<MongoEngine> {
  const obstacle = await awaitMongo(address, { deadlineMs });
  if (obstacle !== undefined) {
    throw new Error(
      `MONGODB_URI: no answer within ${deadlineMs / 1_000} s (${obstacle}). ` +
        'Start the server, correct the address, or unset MONGODB_URI to use the embedded database.',
    );
  }
  return {
    ...foreignEngine('MONGODB_URI'),
    kind: 'address',
    uri: (database) => (database === undefined ? address : withDatabase(address, database)),
  };
}
