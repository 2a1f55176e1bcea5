import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeyring } from '@webhooks/contracts';
import type { AskPositions, PositionModel, PositionRow } from './positions.js';

/** Of the document in `positions` that holds the name. */
const ID = 'current-reading';

/** The document with this id as it is, or else with these members: of instances that begin together all get one. */
const firstOf = (ask: AskPositions, id: string, own: Partial<PositionRow>): Promise<PositionRow> =>
  ask(async ({ positions }) => {
    await positions.updateOne({ _id: id }, { $setOnInsert: own }, { upsert: true }).exec();
    // Read by itself: of two upserts at once the embedded database gives one of them no document.
    return positions.findById(id).lean().orFail().exec();
  });

/**
 * The name of this reading of the topics: part of the names of the consumer groups and of the positions. A database without
 * one is new, was emptied, or was reset. It gets its own, so its groups begin at the oldest record that Kafka holds. The first
 * eight digits of a random UUID: also the first part of each cursor of pulled pages.
 */
export async function readingOf(ask: AskPositions): Promise<string> {
  const { reading } = await firstOf(ask, ID, { reading: randomUUID().replace(/-.*/, '') });
  if (reading === undefined) throw new Error('the name of the reading is missing in its document');
  return reading;
}

/** What seals cursors: a random key, made once for a database. A new reading keeps it. */
export async function cursorKeyringOf(ask: AskPositions) {
  const { key = '' } = await firstOf(ask, 'cursor-key', { key: randomBytes(32).toString('base64') });
  return parseKeyring(`cursor:${key}`);
}

/** Everything that Kafka holds is read again, into the documents that are there. Gives whether there was that reading, or any. */
export const forgetReading = async (positions: PositionModel, only: { reading?: string } = {}) =>
  (await positions.deleteOne({ _id: ID, ...only }).exec()).deletedCount > 0;
