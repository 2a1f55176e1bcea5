import { MAX_TIME_MS } from '@webhooks/contracts';
import { DUPLICATE_KEY } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import { mongo, Schema } from 'mongoose';
import type { IndexOptions, Query } from 'mongoose';

/** A document with a version that rises from 1. A document that is written only once has no version. */
interface Row {
  readonly _id: string;
  readonly version?: number;
}

type Collection = Pick<mongo.Collection, 'bulkWrite' | 'find'>;

/** Most documents of one statement. The embedded database needs 0.1 s for 500, and queries wait during that time. */
export const MAX_STATEMENT = 500;
/** Another instance may write between reading and writing. In every round at least one instance succeeds. */
const MAX_ROUNDS = 10;

/** An upsert that does not find the previous version fails with a duplicate `_id`, as an insert does. */
const writeOf = (row: Row): object =>
  row.version === undefined || row.version === 1
    ? { insertOne: { document: row } }
    : { replaceOne: { filter: { _id: row._id, version: row.version - 1 }, replacement: row, upsert: true } };

/**
 * Writes documents by one statement, in any order. A first version is inserted, and any other version replaces the one
 * before it. Returns the documents that were not written, because another version is stored. Throws for other faults.
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

/** Returns the document with the changes merged in; undefined when it already contains them. */
type Merge<R, T> = (known: R | undefined, changes: T, id: string) => R | undefined;

async function findRows<R extends Row>(
  runQuery: RunQuery<Collection>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, R>> {
  const found = await runQuery((collection) => collection.find({ _id: { $in: ids } } as never).toArray());
  return new Map((found as unknown as readonly R[]).map((row) => [row._id, row]));
}

async function upsertChunk<R extends Row, T>(
  runQuery: RunQuery<Collection>,
  chunk: ReadonlyMap<string, T>,
  merge: Merge<R, T>,
  readsFirst: boolean,
): Promise<void> {
  let left = [...chunk.keys()];
  for (let round = 0; left.length > 0; round += 1) {
    if (round === MAX_ROUNDS) throw new Error(`other instances kept changing ${left.length} documents`);
    const known = readsFirst || round > 0 ? await findRows<R>(runQuery, left) : new Map<string, R>();
    const rows = left.flatMap((id) => merge(known.get(id), chunk.get(id) as T, id) ?? []);
    left = (await runQuery((collection) => writeRows(collection, rows))).map(({ _id }) => _id);
  }
}

/** Reads up to `max` rows in one reply. By default the driver fetches 101 rows and then the rest. */
export const readUpTo = <R>(query: Query<unknown, unknown>, max: number): Promise<readonly R[]> =>
  query
    .limit(max)
    .batchSize(max + 1)
    .lean<R[]>()
    .exec();

/** Splits a list into lists of `MAX_STATEMENT`, one for each statement. */
export const chunksOf = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / MAX_STATEMENT) }, (_, index) =>
    all.slice(index * MAX_STATEMENT, (index + 1) * MAX_STATEMENT),
  );

/**
 * Merges changes into the documents of a collection, by their ids. Inserts first. Then reads, merges and replaces the
 * documents that already existed. `readsFirst`: begins with reading, which costs less when most of them exist. Idempotent
 * if `merge` is, and safe with concurrent instances. Throws when a document was not written.
 */
export async function upsertMerged<R extends Row, T>(
  runQuery: RunQuery<Collection>,
  changes: ReadonlyMap<string, T>,
  merge: Merge<R, T>,
  readsFirst = false,
): Promise<void> {
  for (const chunk of chunksOf([...changes])) await upsertChunk(runQuery, new Map(chunk), merge, readsFirst);
}

/** Base-36 digits of the latest time that a document may have: 10. */
const TIME_LENGTH = MAX_TIME_MS.toString(36).length;

/** Unix milliseconds as text of fixed length, which sorts by time. Times before 1970 become 1970. */
export const timeText = (ms: number): string => Math.max(0, ms).toString(36).padStart(TIME_LENGTH, '0');

/**
 * The sort key of a document within its tenant: text that sorts by (time, id). A page is one range of an index, without
 * an `$or`. The place of an event never changes. That of a delivery moves back when an earlier entry is read after later
 * ones. Pages that are read meanwhile may then skip or repeat it.
 */
export const placeOf = (ms: number, id: string): string => `${timeText(ms)}${id}`;

/** Returns the time of a place, Unix milliseconds; NaN for other text. */
export const timeOfPlace = (place: string): number => Number.parseInt(place.slice(0, TIME_LENGTH), 36);

/** Whether a text is a place with an id of this form. */
export const isPlace = (text: string, id: RegExp): boolean =>
  /^[0-9a-z]+$/.test(text.slice(0, TIME_LENGTH)) &&
  timeOfPlace(text) <= MAX_TIME_MS &&
  id.test(text.slice(TIME_LENGTH));

/** How long documents are stored, in milliseconds. */
export interface Retention {
  /** How long after its latest entry a delivery is stored. */
  readonly logMs: number;
  /** How long after it was appended an event can be sent again. Also the longest pause of a chain of pulled pages. */
  readonly notificationMs: number;
  /** How long after its event was appended a payment can be queried; undefined: for ever. */
  readonly transactionMs: number | undefined;
}

/** A schema that declares only the id: the code that writes a document checks the other fields. */
export const documentSchema = <R>(): Schema<R> =>
  new Schema<R>(
    { _id: { type: String, required: true } },
    { versionKey: false, strict: false, minimize: false },
  );

/** An index by which the database removes documents whose time is older than `ms`. */
export const expiring = (ms: number): IndexOptions => ({ expireAfterSeconds: Math.ceil(ms / 1_000) });
