import { DUPLICATE_KEY } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import { mongo, Schema } from 'mongoose';
import type { IndexOptions } from 'mongoose';

/** A document whose version rises from 1, or that is written once and has no version. */
interface Row {
  readonly _id: string;
  readonly version?: number;
}

type Collection = Pick<mongo.Collection, 'bulkWrite' | 'find'>;

/** Documents of one statement, at most. The embedded database needs 0.1 s for them, and queries wait meanwhile. */
export const MAX_STATEMENT = 500;
/** Another instance may write in between; in every round at least one of them succeeds. */
const MAX_ROUNDS = 10;

/** An upsert that does not find the previous version fails by its id, as an insert does. */
const writeOf = (row: Row): object =>
  row.version === undefined || row.version === 1
    ? { insertOne: { document: row } }
    : { replaceOne: { filter: { _id: row._id, version: row.version - 1 }, replacement: row, upsert: true } };

/**
 * Writes documents by one statement, in any order. A first version is inserted, and any other replaces the version
 * before it. Returns the documents that found something else in their place, which stays. Throws for any other fault.
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

/** The document with more merged in; undefined when it holds that already. */
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
 * Merges news into the documents of a collection, by their ids. It inserts first, and reads, merges and replaces only
 * the documents that exist. Idempotent as `merge` is, and safe with other instances. Throws when not all was written.
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

/** How long documents are kept, milliseconds. */
export interface Retention {
  /** A delivery, after its latest entry. */
  readonly logMs: number;
  /** An event can be sent again for this long after it was appended. A chain of pulled pages may pause this long. */
  readonly notificationMs: number;
  /** A payment can be queried for this long after its event was appended; undefined: for ever. */
  readonly transactionMs: number | undefined;
}

/** A schema with an id only: the code that writes a document checks it. */
export const documentSchema = <R>(): Schema<R> =>
  new Schema<R>(
    { _id: { type: String, required: true } },
    { versionKey: false, strict: false, minimize: false },
  );

/** An index by which the database removes documents whose time is older than `ms`. */
export const expiring = (ms: number): IndexOptions => ({ expireAfterSeconds: Math.ceil(ms / 1_000) });
