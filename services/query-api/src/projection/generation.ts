import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeyring } from '@webhooks/contracts';
import type { RunPositionQuery, PositionModel, PositionRow } from './positions.js';

/** Id of the document in `positions` that holds the generation. */
const ID = 'current-generation';

/**
 * The document with this id, made with these fields when there is none. Instances that begin together all get the
 * same.
 */
const firstOf = (runQuery: RunPositionQuery, id: string, own: Partial<PositionRow>): Promise<PositionRow> =>
  runQuery(async ({ positions }) => {
    await positions.updateOne({ _id: id }, { $setOnInsert: own }, { upsert: true }).exec();
    // A separate read: of two upserts at once the embedded database returns no document to one.
    return positions.findById(id).lean().orFail().exec();
  });

/**
 * The rebuild generation, part of the names of consumer groups, positions and cursors. A database without one is new,
 * was emptied or was reset. It gets a new generation, so its groups begin at the oldest record that Kafka holds.
 * Eight hexadecimal digits.
 */
export async function generationOf(runQuery: RunPositionQuery): Promise<string> {
  const { generation } = await firstOf(runQuery, ID, { generation: randomUUID().replace(/-.*/, '') });
  if (generation === undefined) throw new Error('the rebuild generation is missing in its document');
  return generation;
}

/** The keys that seal cursors: one random key for a database, which new generations keep. */
export async function cursorKeyringOf(runQuery: RunPositionQuery) {
  const { key = '' } = await firstOf(runQuery, 'cursor-key', { key: randomBytes(32).toString('base64') });
  return parseKeyring(`cursor:${key}`);
}

/**
 * Ends the generation, so that everything that Kafka holds is read again; documents stay. `only`: nothing happens
 * when another one is current. Returns whether it ended one.
 */
export const forgetGeneration = async (positions: PositionModel, only: { generation?: string } = {}) =>
  (await positions.deleteOne({ _id: ID, ...only }).exec()).deletedCount > 0;
