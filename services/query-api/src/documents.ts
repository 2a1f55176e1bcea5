import { DUPLICATE_KEY } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import { mongo, Schema } from 'mongoose';
import type { IndexOptions } from 'mongoose';

/** A document of which one version follows another, from 1; one without versions is written once. */
interface Row {
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
type Merge<R, T> = (known: R | undefined, more: T, id: string) => R | undefined;

async function upsertChunk<R extends Row, T>(
  runQuery: RunQuery<Collection>,
  chunk: ReadonlyMap<string, T>,
  merge: Merge<R, T>,
): Promise<void> {
  let left = [...chunk.keys()];
  let known: ReadonlyMap<string, R> = new Map();
  for (let round = 0; left.length > 0; round += 1) {
    if (round === MAX_ROUNDS) throw new Error(`${left.length} documents were written by others all the time`);
    const rows = left.flatMap((id) => merge(known.get(id), chunk.get(id) as T, id) ?? []);
    const lost = await runQuery((collection) => writeRows(collection, rows));
    left = lost.map(({ _id }) => _id);
    if (left.length === 0) return;
    const found = await runQuery((collection) => collection.find({ _id: { $in: left } } as never).toArray());
    known = new Map((found as unknown as readonly R[]).map((row) => [row._id, row]));
  }
}

/**
 * Merges what is new into the documents of a collection, by their ids. What is new is only inserted; only what is there
 * already is read, merged and replaced. Idempotent as `merge` is, and safe beside other instances. Throws when not all was
 * written.
 */
export async function upsertMerged<R extends Row, T>(
  runQuery: RunQuery<Collection>,
  news: ReadonlyMap<string, T>,
  merge: Merge<R, T>,
): Promise<void> {
  const all = [...news];
  for (let from = 0; from < all.length; from += MAX_STATEMENT)
    await upsertChunk(runQuery, new Map(all.slice(from, from + MAX_STATEMENT)), merge);
}

/** How long documents are kept, in milliseconds. */
export interface Retention {
  /** A delivery of which nothing was heard for so long is forgotten. */
  readonly logMs: number;
  /** An event can be sent again for so long after it was appended; a chain of pulled pages may stand still so long. */
  readonly notificationMs: number;
  /** A payment can be asked for so long after its event was appended; undefined: for ever. */
  readonly transactionMs: number | undefined;
}

/** A schema with an id only: the code that writes a document checks it. */
export const documentSchema = <R>(): Schema<R> =>
  new Schema<R>({ _id: { type: String, required: true } }, { versionKey: false, strict: false, minimize: false });

/** An index on a time by which the database removes what is older than that. */
export const expiring = (ms: number): IndexOptions => ({ expireAfterSeconds: Math.ceil(ms / 1_000) });
