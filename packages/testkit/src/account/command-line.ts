import { join } from 'node:path';
import { styleText } from 'node:util';

/** Folder to which the commands of this checkout write. */
export const DATA_DIR = join(import.meta.dirname, '..', '..', '..', '..', '..', '.data');

/** Parses the number of the option `--name`. Throws for any text outside of `min` to `max`, and says what was expected. */
export function readNumber(
  name: string,
  text: string,
  { min, max, isWhole = true }: { readonly min: number; readonly max: number; readonly isWhole?: boolean },
): number {
  const value = Number(text);
  const fits = text.trim() !== '' && value >= min && value <= max;
  if (fits && (Number.isInteger(value) || !isWhole)) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new Error(`--${name}: expected ${kind} from ${min} to ${max}, came '${text}'`);
}

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM, so that the process can stop in order. A second one exits at once with code
 * 130.
 */
export function untilSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort();
    });
  return stopping.signal;
}

/** Shows one line. */
export type Print = (line: string) => void;

const { isTTY } = process.stdout;
/** Erases the progress line that a terminal shows. */
const ERASE = isTTY ? '\x1b[K' : '';

/** Prints a line to standard output. */
export const print: Print = (line) => void process.stdout.write(`${ERASE}${line}\n`);

/** Prints a line that, on a terminal, the next line overwrites. */
export const showProgress: Print = (line) =>
  void process.stdout.write(isTTY ? `${ERASE}${line}\r` : `${line}\n`);

/** Colours text when standard output is a terminal. Honours `NO_COLOR` and `FORCE_COLOR`. */
export const paint = (format: 'green' | 'red' | 'yellow' | 'dim', text: string): string =>
  styleText(format, text, { stream: process.stdout });

/** Aligns cells in columns, two spaces apart. Columns whose index is in `right` are aligned to the right. */
export function align(rows: readonly (readonly string[])[], right: readonly number[]): readonly string[] {
  const widthOf = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        right.includes(column) ? cell.padStart(widthOf(column)) : cell.padEnd(widthOf(column)),
      )
      .join('  ')
      .trimEnd(),
  );
}
