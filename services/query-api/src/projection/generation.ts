import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeyring } from '@webhooks/contracts';
import type { RunPositionQuery, PositionModel, PositionRow } from './positions.js';

/** Of the document in `positions` that holds the name. */
const ID = 'current-generation';

/** The document with this id as it is, or else with these members: of instances that begin together all get one. */
const firstOf = (runQuery: RunPositionQuery, id: string, own: Partial<PositionRow>): Promise<PositionRow> =>
  runQuery(async ({ positions }) => {
    await positions.updateOne({ _id: id }, { $setOnInsert: own }, { upsert: true }).exec();
    // Read by itself: of two upserts at once the embedded database gives one of them no document.
    return positions.findById(id).lean().orFail().exec();
  });

/**
 * The name of this reading of the topics: part of the names of the consumer groups and of the positions. A database without
 * one is new, was emptied, or was reset. It gets its own, so its groups begin at the oldest record that Kafka holds. The first
 * eight digits of a random UUID: also the first part of each cursor of pulled pages.
 */
export async function generationOf(runQuery: RunPositionQuery): Promise<string> {
  const { generation } = await firstOf(runQuery, ID, { generation: randomUUID().replace(/-.*/, '') });
  if (generation === undefined) throw new Error('the rebuild generation is missing in its document');
  return generation;
}

/** What seals cursors: a random key, made once for a database. A new reading keeps it. */
export async function cursorKeyringOf(runQuery: RunPositionQuery) {
  const { key = '' } = await firstOf(runQuery, 'cursor-key', { key: randomBytes(32).toString('base64') });
  return parseKeyring(`cursor:${key}`);
}

/** Everything that Kafka holds is read again, into the documents that are there. Gives whether there was that reading, or any. */
export const forgetGeneration = async (positions: PositionModel, only: { generation?: string } = {}) =>
  (await positions.deleteOne({ _id: ID, ...only }).exec()).deletedCount > 0;
