/**
 * One run of `work` at a time, shared by all who call before it begins: who calls while one is under way gets the next one, for
 * that one may not know of what came after its begin. While none is under way it begins at once.
 */
export function shareNext<T>(work: () => Promise<T>): () => Promise<T> {
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
    if (running === undefined) return begin();
    return (next ??= running.catch(() => undefined).then(begin));
  };
}
