import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file that appears whole or not at all; `secret` ones can be read by their owner alone (mode 0600). */
export async function writeWhole(path: string, text: string, kind: 'public' | 'secret'): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${randomUUID()}.tmp`;
  await writeFile(unfinished, text, { mode: kind === 'secret' ? 0o600 : 0o644 });
  await rename(unfinished, path);
}
