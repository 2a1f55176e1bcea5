import type { Sum, Texts } from '@webhooks/client';
import { stripVTControlCharacters, styleText } from 'node:util';

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the members that have a value, because optional members of the client's types must not be undefined. */
export const present = <T extends object>(source: T): Present<T> =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined)) as Present<T>;

/** Collects a list, at most `limit` elements of it; default: all. */
export async function collect<T>(listed: AsyncIterable<T>, limit = Infinity): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of listed) if (all.push(one) >= limit) break;
  return all;
}

const COLOURS = [
  [/^(delivered|healthy|completed|accepted|ok|create|true)$/, 'green'],
  [/^(dead|failed|failing|invalid|fault)$/, 'red'],
  [/^(pending|running|deferred|paused|warning|update)$/, 'yellow'],
  [/^(cancelled|disabled|idle|skipped|unchanged|undeclared|false|–)$/, 'dim'],
] as const;

/** Returns foreign text as one line, without characters that move the cursor, end the line or turn the direction of text. */
export const plain = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ');

/** Colours words of state only. No colour when `NO_COLOR` is set or the output is no terminal. */
export function paint(value: unknown = '–'): string {
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value));
  const colour = COLOURS.find(([words]) => words.test(text))?.[1];
  return colour === undefined ? text : styleText(colour, text);
}

export const dim = (text: string): string => styleText('dim', text);

/** Aligns columns, one line for each row. */
function align(lines: readonly (readonly string[])[]): string {
  const width = (cell: string): number => stripVTControlCharacters(cell).length;
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => width(line[column] ?? ''))),
  );
  const pad = (cell: string, column: number): string =>
    cell + ' '.repeat((widths[column] ?? 0) - width(cell));
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

/** Formats a table with a head; its columns are the members that `columns` names. */
export function table(rows: readonly object[], columns: readonly string[], none = 'nothing found'): string {
  if (rows.length === 0) return dim(none);
  const members = rows.map((row) => new Map<string, unknown>(Object.entries(row)));
  return align([columns.map(dim), ...members.map((row) => columns.map((name) => paint(row.get(name))))]);
}

/** Formats the members of one object, one a line, without those that are lists or objects. */
export function card(thing: object): string {
  const shown = Object.entries(thing).filter(([, value]) => typeof value !== 'object');
  return align(shown.map(([name, value]) => [dim(plain(name)), paint(value)]));
}

export const sumText = ({ events, amount }: Sum): string => `${events} (R$ ${amount})`;

/** Returns the language of the terminal: Portuguese when its locale is, else English. */
export function language(): keyof Texts {
  const { LC_ALL, LC_MESSAGES, LANG = '' } = process.env;
  return (LC_ALL || LC_MESSAGES || LANG).startsWith('pt') ? 'pt' : 'en';
}

export const createOutput = (json: boolean) => ({
  json,
  /** Prints a result: `value` with `--json`, else `text`. */
  show: (value: unknown, text: string): boolean =>
    process.stdout.write(`${json ? JSON.stringify(value) : text}\n`),
  /** Prints a line to standard error, beside the result; nothing with `--json`, or without a text. */
  note: (text: string): boolean => json || text === '' || process.stderr.write(`${text}\n`),
});
export type Output = ReturnType<typeof createOutput>;
