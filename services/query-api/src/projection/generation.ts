import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeyring } from '@webhooks/contracts';
import type { RunPositionQuery, PositionModel, PositionRow } from './positions.js';

/** Id of the document in `positions` that contains the generation. */
export const GENERATION_ID = 'current-generation';

/**
 * Returns the document with this id. Creates it with these fields when there is none. Instances that start together
 * all get the same document.
 */
const ensureRow = (runQuery: RunPositionQuery, id: string, own: Partial<PositionRow>): Promise<PositionRow> =>
  runQuery(async ({ positions }) => {
    const found = await positions.findById(id).lean().exec();
    if (found) return found;
    await positions.updateOne({ _id: id }, { $setOnInsert: own }, { upsert: true }).exec();
    // A separate read: with two concurrent upserts, the embedded database returns no document to one of them.
    return positions.findById(id).lean().orFail().exec();
  });

/**
 * Returns the rebuild generation: eight hexadecimal digits in the names of consumer groups, positions and cursors. A
 * database without one is new, was emptied or was reset. It gets a new generation, so its groups begin at the oldest
 * record that Kafka stores.
 */
export async function generationOf(runQuery: RunPositionQuery): Promise<string> {
  const { generation } = await ensureRow(runQuery, GENERATION_ID, {
    generation: randomUUID().replace(/-.*/, ''),
  });
  if (generation === undefined) throw new Error('the rebuild generation is missing in its document');
  return generation;
}

/** Returns the keys that seal cursors: one random key for each database. New generations use the same key. */
export async function cursorKeyringOf(runQuery: RunPositionQuery) {
  const { key = '' } = await ensureRow(runQuery, 'cursor-key', { key: randomBytes(32).toString('base64') });
  return parseKeyring(`cursor:${key}`);
}

/**
 * Deletes the generation, so that everything that Kafka stores is read again. Documents stay. `only`: deletes only this
 * generation. Returns whether a generation was deleted.
 */
export const forgetGeneration = async (positions: PositionModel, only: { generation?: string } = {}) =>
  (await positions.deleteOne({ _id: GENERATION_ID, ...only }).exec()).deletedCount > 0;
