/**
 * Shares one run of `work` among all who call before it begins. A call during a run gets the next run, because the current one may
 * miss what came after its begin. Without `before`, a call while nothing runs begins at once. With `before`, each run waits for it first.
 */
export function shareNext<T>(work: () => Promise<T>, before?: () => Promise<unknown>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const run = work();
    const over = (): void => {
      if (running === run) running = undefined;
    };
    running = run;
    run.then(over, over);
    return run;
  };
  return () => {
    if (running === undefined && before === undefined) return begin();
    return (next ??= Promise.resolve(running)
      .catch(() => undefined)
      .then(before)
      .then(begin));
  };
}
