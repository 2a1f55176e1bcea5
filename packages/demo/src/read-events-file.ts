import { readFile } from 'node:fs/promises';
import { readFeedLine } from '@webhooks/testkit/account';
import type { FeedLine } from '@webhooks/testkit/account';

/** Reads an events file: one JSON object a line, empty lines skipped. Throws when it is empty, missing or over 512 MiB. */
export async function readEventsFile(file: string): Promise<readonly FeedLine[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`the events file ${file} cannot be read: ${String(error)}`, { cause: error });
  });
  const lines = content.split(/\r?\n/).filter((text) => text.trim() !== '');
  if (lines.length === 0) throw new Error(`${file} holds no events`);
  return lines.map(readFeedLine);
}
