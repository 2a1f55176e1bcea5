import type { Sum, Texts } from '@webhooks/client';
import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { localTime } from './times.js';

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

/** Moves the cursor, ends the line or turns the direction of text; of our own output the colours do not. */
const UNSAFE = /(?!\u001b\[(?:2|22|3[1-3]|39)m)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Returns foreign text as one line that is safe for a terminal. */
export const plain = (text: string): string => stripVTControlCharacters(text).replaceAll(UNSAFE, ' ');

/** Returns JSON that is safe for a terminal, and means the same. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    UNSAFE,
    (unsafe) => `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Writes lines. All that a command prints passes through here, so that a terminal never gets what a server sends as it came. */
export const write = (stream: NodeJS.WriteStream, text: string): boolean =>
  stream.write(`${text.replaceAll(UNSAFE, (unsafe) => (unsafe === '\n' ? unsafe : ' '))}\n`);

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const textOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return UTC.test(text) && !Number.isNaN(Date.parse(text)) ? localTime(new Date(text)) : plain(text);
};

/** Formats one value. Times are local. Only words of state are coloured, unless `NO_COLOR` is set or the output is no terminal. */
export function paint(value: unknown = '–'): string {
  const text = textOf(value);
  const colour = COLOURS.find(([words]) => words.test(text))?.[1];
  return colour === undefined ? text : styleText(colour, text);
}

export const dim = (text: string): string => styleText('dim', text);

const GAP = '  ';

/** Whether each column begins a further line, because the terminal is too narrow for it. */
function breaksOf(widths: readonly number[], terminal: number): readonly boolean[] {
  let used = 0;
  return widths.map((width, column) => {
    const isBreak = column > 0 && used + GAP.length + width > terminal;
    used = (column > 0 && !isBreak ? used : 0) + GAP.length + width;
    return isBreak;
  });
}

/**
 * Aligns columns, one line for each row. On a terminal, columns beyond its width go on in further lines, and a longer sentence is
 * wrapped. Nothing is cut, because ids and addresses are copied.
 */
function align(rows: readonly (readonly string[])[]): string {
  const terminal = process.stdout.columns || Infinity;
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))),
  );
  const breaks = breaksOf(widths, terminal);
  const cellOf = (cell: string, column: number): string => {
    const before = column === 0 ? '' : `${breaks[column] ? '\n' : ''}${GAP}`;
    const width = stringWidth(cell);
    if (width + GAP.length > terminal)
      return before + wrapAnsi(cell, terminal - GAP.length).replaceAll('\n', `\n${GAP}`);
    return before + cell + ' '.repeat((widths[column] ?? 0) - width);
  };
  return rows.map((row) => row.map(cellOf).join('').replaceAll(/ +$/gm, '')).join('\n');
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
  show: (value: unknown, text: string): boolean => write(process.stdout, json ? jsonText(value) : text),
  /** Prints a line to standard error, beside the result; nothing with `--json`, or without a text. */
  note: (text: string): boolean => json || text === '' || write(process.stderr, text),
});
export type Output = ReturnType<typeof createOutput>;
