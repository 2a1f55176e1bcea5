import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { lastLines } from '@webhooks/engines';

const TAIL_BYTES = 16_384;
const MAX_WORDS = 3;
const MAX_LENGTH = 500;

function tailOf(file: string, from: number): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const tail = Buffer.alloc(Math.min(Math.max(0, size - from), TAIL_BYTES));
    readSync(handle, tail, 0, tail.length, size - tail.length);
    return tail.toString();
  } finally {
    closeSync(handle);
  }
}

/** What a line of a service's log says when it is an error; undefined for any other line of a log. */
function errorOf(line: string): string | undefined {
  try {
    const { level, message, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (level !== 'error') return undefined;
    return [message, error].filter((part) => typeof part === 'string').join(': ');
  } catch {
    // Not a line of its log: what Node itself prints when a process ends by a fault, or the half line the tail begins with.
    return undefined;
  }
}

/**
 * Why a service ended, by what it wrote to its log from this byte on (before it stands what earlier processes wrote): its last
 * errors, or its last line; at most 500 characters.
 */
export function lastWords(logFile: string, from: number): string {
  const tail = tailOf(logFile, from);
  const errors = tail
    .split('\n')
    .map(errorOf)
    .filter((error) => error !== undefined);
  const words = errors.length > 0 ? errors.slice(-MAX_WORDS).join('; ') : lastLines(tail, 1);
  return (words === '' ? 'its log is empty' : words).slice(0, MAX_LENGTH);
}
