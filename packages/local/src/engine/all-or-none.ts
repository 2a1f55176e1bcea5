/** Resolves to the values of all. When one rejects, `undo` is called for those that resolved, and its reason is thrown. */
export async function allOrNone<T>(
  work: readonly Promise<T>[],
  undo: (done: T) => Promise<unknown>,
): Promise<T[]> {
  const results = await Promise.allSettled(work);
  const done = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return done;
  await Promise.allSettled(done.map(undo));
  throw failed.reason;
}
