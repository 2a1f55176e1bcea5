/**
 * One run of `work` at a time, shared by all who call before it begins: who calls while one is under way gets the next one, for
 * that one may not know of what came after its begin.
 */
export function shareNext<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () =>
    (next ??= running.then(() => {
      next = undefined;
      const run = work();
      running = run.catch(() => undefined);
      return run;
    }));
}
