import { withDeadline } from '@webhooks/runtime';
import { mongo } from 'mongoose';

/** MongoDB's code for a document that is there already. */
export const DUPLICATE_KEY = 11_000;

/** Whether a write met a document that is there already: the only fault of a statement that means something. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;

/** Runs one statement; see `createRunQuery`. */
export type RunQuery<M> = <T>(statement: (model: M) => Promise<T>) => Promise<T>;

/**
 * Runs statements that must all be done within `ms` from now. Whatever the database cannot do in time, or at all, throws
 * what `unavailable` makes of it; a duplicate is thrown as it is. `models` gives nothing while no statement may run.
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
