import { withDeadline } from '@webhooks/runtime';

/** Work of one key runs one after the other, in the order it came; different keys do not wait for each other. */
export type RunExclusive = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Whoever waits longer than `maxWaitMs` for his turn loses it: the promise rejects with `onLate` and the work is never begun. */
export function createKeyedMutex(maxWaitMs: number, onLate: (cause: unknown) => Error): RunExclusive {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    const come = withDeadline(before, maxWaitMs, 'waiting for a turn').catch((cause: unknown) => {
      throw onLate(cause);
    });
    const turn = come.then(work);
    const tail = Promise.allSettled([before, turn]).then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    tails.set(key, tail);
    return turn;
  };
}
