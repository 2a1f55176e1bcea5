import { readFileSync } from 'node:fs';
import { lastLines } from '../engine/command.js';

const MAX_WORDS = 3;
const MAX_LENGTH = 500;

/** The message of a log line of level error; undefined for any other line. */
function errorOf(line: string): string | undefined {
  try {
    const { level, message, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (level !== 'error') return undefined;
    return [message, error].filter((part) => typeof part === 'string').join(': ');
  } catch {
    // No JSON: Node prints such lines when a process ends by a fault.
    return undefined;
  }
}

/**
 * Why a service ended: the last errors in its log, or its last line, at most 500 characters. Reads from byte `from` on, because
 * earlier processes wrote to the same file.
 */
export function lastWords(logFile: string, from: number): string {
  const log = readFileSync(logFile).subarray(from).toString();
  const errors = log
    .split('\n')
    .map(errorOf)
    .filter((error) => error !== undefined);
  const words = errors.length > 0 ? errors.slice(-MAX_WORDS).join('; ') : lastLines(log, 1);
  return (words === '' ? 'its log is empty' : words).slice(0, MAX_LENGTH);
}
