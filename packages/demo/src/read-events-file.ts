import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { readFeedLine } from '@webhooks/ledger';
import type { FeedLine } from '@webhooks/ledger';

const MAX_LINES = 1_000_000;

const isAbsent = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';

/** Throws with the file's name when it is missing. */
async function openEventsFile(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    throw new Error(
      `the events file ${file} cannot be read: ${isAbsent(error) ? 'there is no such file' : String(error)}`,
      { cause: error },
    );
  }
}

/** Reads an events file: one JSON object a line, empty lines skipped. Throws when it is empty, missing or over a million lines. */
export async function readEventsFile(file: string): Promise<readonly FeedLine[]> {
  const lines: FeedLine[] = [];
  const input = (await openEventsFile(file)).createReadStream({ encoding: 'utf8' });
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    if (text.trim() === '') continue;
    if (lines.length === MAX_LINES) throw new Error(`${file} has more than ${MAX_LINES} lines`);
    lines.push(readFeedLine(text));
  }
  if (lines.length === 0) throw new Error(`${file} holds no events`);
  return lines;
}
