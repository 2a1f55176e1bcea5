import { join } from 'node:path';
import { styleText } from 'node:util';

/** Where the commands of this checkout write. */
export const DATA_DIR = join(import.meta.dirname, '..', '..', '..', '..', '..', '.data');

/** A number of the command line. Throws with what was expected. */
export function readNumber(
  name: string,
  text: string,
  {
    least,
    most,
    isWhole = true,
  }: { readonly least: number; readonly most: number; readonly isWhole?: boolean },
): number {
  const value = Number(text);
  const fits = text.trim() !== '' && value >= least && value <= most;
  if (fits && (Number.isInteger(value) || !isWhole)) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new Error(`--${name}: expected ${kind} from ${least} to ${most}, came '${text}'`);
}

/** Aborts at the first signal, so that what runs ends in order; a second one ends the process at once. */
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

/** To standard output. */
export const print: Print = (line) => void process.stdout.write(`${ERASE}${line}\n`);

/** On a terminal the next line overwrites this one. */
export const showProgress: Print = (line) =>
  void process.stdout.write(isTTY ? `${ERASE}${line}\r` : `${line}\n`);

/** A line in colour when standard output is a terminal; `NO_COLOR` and `FORCE_COLOR` are honoured. */
export const paint = (format: 'green' | 'red' | 'yellow' | 'dim', text: string): string =>
  styleText(format, text, { stream: process.stdout });

/** Columns side by side, those of `right` to the right. */
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
