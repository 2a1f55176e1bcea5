import { readFileSync } from 'node:fs';
import type { Argv } from 'yargs';

export const EVENT_TYPES = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'] as const;

/** Declares a positional argument that its command requires. */
export const positional =
  <N extends string>(name: N, describe: string) =>
  (own: Argv) =>
    own.positional(name, { type: 'string', demandOption: true, describe });

/** Reads a file, or standard input for `-`. Secrets are passed this way, because typed ones stay in the shell's history. */
export const textOf = (file: string): string => readFileSync(file === '-' ? 0 : file, 'utf8').trim();
export const FILE = { type: 'string', coerce: textOf, requiresArg: true } as const;

/** Parses a typed date or time. Returns RFC 3339 in UTC; throws for any other text. `Date.parse` would read "last 5" as May 2001. */
export function timeOf(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || !/^\d{4}-\d\d-\d\d(T|$)/.test(text))
    throw new Error(`${text} is no time; write 2026-11-21 or 2026-11-21T14:00:00Z`);
  return new Date(ms).toISOString();
}

/** Whether an address is on this machine, by its text alone: host names are not resolved. */
export function isLoopback(address: string): boolean {
  const { protocol = '', hostname = '' } = URL.parse(address) ?? {};
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
