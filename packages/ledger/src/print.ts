import { styleText } from 'node:util';

/** Shows one line to whoever watches. */
export type Print = (line: string) => void;

/** A line in colour when standard output is a terminal; `NO_COLOR` and `FORCE_COLOR` are honoured. */
export const paint = (format: 'green' | 'red' | 'yellow' | 'dim', text: string): string =>
  styleText(format, text, { stream: process.stdout });
