import { withDeadline } from '@webhooks/runtime';
import { mongo } from 'mongoose';

/** MongoDB's code for a write of a document that exists already. */
export const DUPLICATE_KEY = 11_000;

/** Whether a write failed because the document exists already. All other faults mean that the database is unavailable. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;

/** Runs one statement; see `createRunQuery`. */
export type RunQuery<M> = <T>(statement: (model: M) => Promise<T>) => Promise<T>;

/**
 * Runs statements that must all end within `ms` from now. A fault, or the end of the time, throws what `unavailable` makes of it. A
 * duplicate is thrown as it is. `models` gives undefined while no statement may run.
 */
export function createRunQuery<M>(
  models: () => M | undefined,
  ms: number,
  unavailable: (cause?: unknown) => Error,
): RunQuery<M> {
  const end = performance.now() + ms;
  return async (statement) => {
    const model = models();
    const leftMs = end - performance.now();
    if (model === undefined || leftMs <= 0) throw unavailable();
    try {
      return await withDeadline(statement(model), leftMs, 'the database');
    } catch (error) {
      throw isDuplicate(error) ? error : unavailable(error);
    }
  };
}
