import { styleText } from 'node:util';

/** A line in colour when standard output is a terminal; `NO_COLOR` and `FORCE_COLOR` are honoured. */
export const paint = (format: 'green' | 'red' | 'yellow' | 'dim', text: string): string =>
  styleText(format, text, { stream: process.stdout });
