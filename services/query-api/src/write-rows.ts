import { DUPLICATE_KEY } from '@webhooks/mongodb';
import { mongo } from 'mongoose';

/** One write: a document that is not there yet, or one in the place of the version that was read. */
export type RowWrite<R> =
  | { readonly insertOne: { readonly document: R } }
  | {
      readonly replaceOne: {
        readonly filter: { readonly _id: string; readonly version: number };
        readonly replacement: R;
      };
    };

export interface RowsWritten {
  /** Replacements that met their document in the version that was read. */
  readonly replaced: number;
  /** Places, in `writes`, of inserts whose document was there already. */
  readonly taken: readonly number[];
}

function takenOf(error: mongo.MongoBulkWriteError): readonly number[] {
  const faults = [error.writeErrors].flat();
  const expected = faults.every(({ code }) => code === DUPLICATE_KEY);
  if (faults.length === 0 || !expected || error.result.getWriteConcernError() !== undefined) throw error;
  return faults.map(({ index }) => index);
}

/** Writes documents of one collection in any order, as few statements. Throws for whatever but a document that is there. */
export async function writeRows<R extends { readonly _id: string }>(
  collection: Pick<mongo.Collection, 'bulkWrite'>,
  writes: readonly RowWrite<R>[],
): Promise<RowsWritten> {
  try {
    // A collection without a type of its own expects ids that the driver made; those of this service are texts.
    const { matchedCount } = await collection.bulkWrite(writes as never, { ordered: false });
    return { replaced: matchedCount, taken: [] };
  } catch (error) {
    if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
    return { replaced: error.matchedCount, taken: takenOf(error) };
  }
}
