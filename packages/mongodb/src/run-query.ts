import { withDeadline } from '@webhooks/runtime';
import { mongo } from 'mongoose';

/** MongoDB's error code for a write of a document that already exists. */
export const DUPLICATE_KEY = 11_000;

/**
 * Whether a write failed because the document already exists. Any other fault means that the database is
 * unavailable.
 */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;

/** Runs one statement; see `createRunQuery`. */
export type RunQuery<M> = <T>(statement: (model: M) => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs statements, which must all end within `ms` milliseconds from now. After a fault or
 * the deadline, it throws the error that `unavailable` creates. A duplicate error is thrown unchanged. `models`
 * returns undefined while no statement may run.
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
