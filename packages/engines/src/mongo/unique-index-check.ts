/** A collection with a unique index on `key`, as the self-test sees it. */
export interface UniqueKeys {
  insert(key: string): Promise<unknown>;
  /** Changes the one document with key `from` to `to`. */
  move(from: string, to: string): Promise<unknown>;
  count(): Promise<number>;
  /** Whether the error is the server's refusal of a double key (code 11000). */
  isConflict(error: unknown): boolean;
}

/**
 * Throws when a server gets unique indexes wrong: a key must become free when its document moves away from it, and
 * must be refused when an insert or an update would double it. Some MongoDB emulators fail one of these silently.
 */
export async function checkUniqueIndex(keys: UniqueKeys): Promise<void> {
  await keys.insert('first');
  await keys.move('first', 'second');
  await keys.insert('first').catch((cause: unknown) => {
    throw new Error('self-test: a key that was updated away is still taken', { cause });
  });
  await expectConflict(keys, 'update', () => keys.move('second', 'first'));
  await expectConflict(keys, 'insert', () => keys.insert('second'));
  const count = await keys.count();
  if (count !== 2) throw new Error(`self-test: expected 2 documents, came ${count}`);
}

async function expectConflict(keys: UniqueKeys, what: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (keys.isConflict(error)) return;
    throw error;
  }
  throw new Error(`self-test: an ${what} that doubles a unique key was accepted`);
}
