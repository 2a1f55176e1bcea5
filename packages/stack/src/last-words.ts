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

/** The message of a log line of level error; undefined for any other line. */
function errorOf(line: string): string | undefined {
  try {
    const { level, message, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (level !== 'error') return undefined;
    return [message, error].filter((part) => typeof part === 'string').join(': ');
  } catch {
    // No JSON: Node prints such lines when a process ends by a fault, and the tail may begin with half a line.
    return undefined;
  }
}

/**
 * Why a service ended: the last errors in its log, or its last line, at most 500 characters. Reads from byte `from` on, because
 * earlier processes wrote to the same file.
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
