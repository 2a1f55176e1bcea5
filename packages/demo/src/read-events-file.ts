import { readFile } from 'node:fs/promises';
import { readFeedLine } from '@webhooks/ledger';
import type { FeedLine } from '@webhooks/ledger';

const isAbsent = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';

/** Reads an events file: one JSON object a line, empty lines skipped. Throws when it is empty, missing or over 512 MiB. */
export async function readEventsFile(file: string): Promise<readonly FeedLine[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = isAbsent(error) ? 'there is no such file' : String(error);
    throw new Error(`the events file ${file} cannot be read: ${why}`, { cause: error });
  });
  const lines = content.split(/\r?\n/).filter((text) => text.trim() !== '');
  if (lines.length === 0) throw new Error(`${file} holds no events`);
  return lines.map(readFeedLine);
}
