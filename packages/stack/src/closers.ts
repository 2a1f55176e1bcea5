/** Closes one thing that was opened. */
export type Closer = () => Promise<void>;

/** Closes everything, last opened first, each in spite of the others' faults; then throws, with the first fault as cause. */
export async function closeAll(closers: Closer[], name: string): Promise<void> {
  const faults: unknown[] = [];
  for (let close = closers.pop(); close; close = closers.pop())
    await close().catch((error: unknown) => faults.push(error));
  if (faults.length > 0) throw new Error(`${name} did not stop in order`, { cause: faults[0] });
}
