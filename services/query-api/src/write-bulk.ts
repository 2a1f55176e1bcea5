import { mongo } from 'mongoose';

const DUPLICATE_KEY = 11_000;

export interface BulkResult {
  /** Documents that an update met. */
  readonly matched: number;
  /** Inserts whose document was there already. */
  readonly duplicates: number;
}

/** One write: a document that is not there yet, or one in the place of the version that was read. */
export type BulkWrite<R> =
  | { readonly insertOne: { readonly document: R } }
  | {
      readonly replaceOne: {
        readonly filter: { readonly _id: string; readonly version: number };
        readonly replacement: R;
      };
    };

function refusedOnlyDuplicates(error: mongo.MongoBulkWriteError): boolean {
  const faults = [error.writeErrors].flat();
  return (
    faults.length > 0 &&
    faults.every(({ code }) => code === DUPLICATE_KEY) &&
    error.result.getWriteConcernError() === undefined
  );
}

/**
 * Runs writes of one collection in any order, as few statements. A document that is there already is counted; whatever
 * else fails is thrown, after the other writes were tried.
 */
export async function writeBulk<R extends { readonly _id: string }>(
  collection: Pick<mongo.Collection, 'bulkWrite'>,
  writes: readonly BulkWrite<R>[],
): Promise<BulkResult> {
  try {
    // A collection without a type of its own expects ids that the driver made; those of this service are texts.
    const { matchedCount } = await collection.bulkWrite(writes as never, { ordered: false });
    return { matched: matchedCount, duplicates: 0 };
  } catch (error) {
    if (!(error instanceof mongo.MongoBulkWriteError) || !refusedOnlyDuplicates(error)) throw error;
    return { matched: error.matchedCount, duplicates: [error.writeErrors].flat().length };
  }
}
