import { randomUUID } from 'node:crypto';
import type { AskPositions, PositionModel } from './positions.js';

/** Of the document in `positions` that holds the name. */
const ID = 'current-reading';

/**
 * The name of this reading of the topics: part of the names of the consumer groups and of the positions. A database without
 * one is new, was emptied, or was reset. It gets its own, so its groups begin at the oldest record that Kafka holds. The first
 * eight digits of a random UUID: also the first part of each cursor of pulled pages.
 */
export async function readingOf(ask: AskPositions): Promise<string> {
  const own = randomUUID().replace(/-.*/, '');
  const { reading } = await ask(({ positions }) =>
    positions
      .findByIdAndUpdate(ID, { $setOnInsert: { reading: own } }, { upsert: true, returnDocument: 'after' })
      .lean()
      .orFail()
      .exec(),
  );
  if (reading === undefined) throw new Error('the name of the reading is missing in its document');
  return reading;
}

/** Everything that Kafka holds is read again, into the documents that are there. Gives whether there was that reading, or any. */
export const forgetReading = async (positions: PositionModel, only: { reading?: string } = {}) =>
  (await positions.deleteOne({ _id: ID, ...only }).exec()).deletedCount > 0;
