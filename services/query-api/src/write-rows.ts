import { DUPLICATE_KEY } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import { mongo } from 'mongoose';

/** A document of which one version follows another, from 1; one without versions is written once. */
export interface Row {
  readonly _id: string;
  readonly version?: number;
}

type Collection = Pick<mongo.Collection, 'bulkWrite' | 'find'>;

/** Documents of one statement, at most: 0.1 s of the embedded database, in which queries wait. */
export const MAX_STATEMENT = 500;
/** Another instance may have written in between; every round at least one of them got on. */
const MAX_ROUNDS = 10;

/** An upsert that does not find the version before meets its id, as an insert does. */
const writeOf = (row: Row): object =>
  row.version === undefined || row.version === 1
    ? { insertOne: { document: row } }
    : { replaceOne: { filter: { _id: row._id, version: row.version - 1 }, replacement: row, upsert: true } };

/**
 * Writes documents by one statement, in any order: the first version of each where none is, any other in the place of the
 * version before. Gives those that found something else, which stays as it is. Throws for any other fault.
 */
export async function writeRows<R extends Row>(
  collection: Pick<Collection, 'bulkWrite'>,
  rows: readonly R[],
): Promise<readonly R[]> {
  if (rows.length === 0) return [];
  try {
    await collection.bulkWrite(rows.map(writeOf) as never, { ordered: false });
    return [];
  } catch (error) {
    if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
    const faults = [error.writeErrors].flat();
    const expected = faults.every(({ code }) => code === DUPLICATE_KEY);
    if (faults.length === 0 || !expected || error.result.getWriteConcernError() !== undefined) throw error;
    return faults.flatMap(({ index }) => rows[index] ?? []);
  }
}

/** What a document is once something more is known; undefined when it tells that already. */
export type Merge<R, T> = (known: R | undefined, more: T, id: string) => R | undefined;

async function upsertChunk<R extends Row, T>(
  ask: RunQuery<Collection>,
  chunk: ReadonlyMap<string, T>,
  merge: Merge<R, T>,
): Promise<void> {
  let left = [...chunk.keys()];
  let known: ReadonlyMap<string, R> = new Map();
  for (let round = 0; left.length > 0; round += 1) {
    if (round === MAX_ROUNDS) throw new Error(`${left.length} documents were written by others all the time`);
    const rows = left.flatMap((id) => merge(known.get(id), chunk.get(id) as T, id) ?? []);
    const lost = await ask((collection) => writeRows(collection, rows));
    left = lost.map(({ _id }) => _id);
    if (left.length === 0) return;
    const found = await ask((collection) => collection.find({ _id: { $in: left } } as never).toArray());
    known = new Map((found as unknown as readonly R[]).map((row) => [row._id, row]));
  }
}

/**
 * Merges what is new into the documents of a collection, by their ids. What is new is only inserted; only what is there
 * already is read, merged and replaced. Idempotent as `merge` is, and safe beside other instances. Throws when not all was
 * written.
 */
export async function upsertMerged<R extends Row, T>(
  ask: RunQuery<Collection>,
  news: ReadonlyMap<string, T>,
  merge: Merge<R, T>,
): Promise<void> {
  const all = [...news];
  for (let from = 0; from < all.length; from += MAX_STATEMENT)
    await upsertChunk(ask, new Map(all.slice(from, from + MAX_STATEMENT)), merge);
}
