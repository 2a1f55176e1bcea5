import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes temporary folders and removes them all at the end of the test file. Call it after the `afterAll` that ends whoever
 * writes into them: Jest runs these hooks in the order of their definition.
 */
export function scratchFolders(): () => Promise<string> {
  const made: string[] = [];
  afterAll(async () => {
    await Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true })));
  });
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engines-test-'));
    made.push(folder);
    return folder;
  };
}
