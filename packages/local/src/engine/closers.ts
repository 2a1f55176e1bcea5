/** Closes one thing that was opened. */
export type Closer = () => Promise<void>;

/** Closes everything, last opened first, also after one of them failed. Then throws, with the first fault as cause. */
export async function closeAll(closers: Closer[], name: string): Promise<void> {
  const faults: unknown[] = [];
  for (let close = closers.pop(); close; close = closers.pop())
    try {
      await close();
    } catch (error) {
      faults.push(error);
    }
  if (faults.length > 0) throw new Error(`${name} did not stop in order`, { cause: faults[0] });
}

/** After something could not be opened: closes what is open and throws that fault, together with any fault of closing. */
export async function closeAfterFault(closers: Closer[], name: string, fault: unknown): Promise<never> {
  try {
    await closeAll(closers, name);
  } catch (closing) {
    const text = fault instanceof Error ? fault.message : String(fault);
    throw new AggregateError([fault, closing], `${text}; and ${name} did not stop in order`, {
      cause: fault,
    });
  }
  throw fault;
}

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
