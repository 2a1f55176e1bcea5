/** Closes one thing that was opened. */
export type Closer = () => Promise<void>;

/** Closes everything, last opened first. A fault does not stop it; at the end it throws, with the first fault as the cause. */
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

/** Closes what is open after `fault`, and throws that fault, together with any fault of closing. */
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

/** Waits until all promises have settled, so that the caller can stop what has started. Returns the results, or throws the first fault. */
export async function allOrFirstFault<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
