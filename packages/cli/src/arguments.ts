import { readFileSync } from 'node:fs';
import type { Argv } from 'yargs';

export const EVENT_TYPES = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'] as const;

/** A positional argument, which its command requires. */
export const positional =
  <N extends string>(name: N, describe: string) =>
  (own: Argv) =>
    own.positional(name, { type: 'string', demandOption: true, describe });

/** Reads a file, or standard input for `-`. Secrets are given so, because typed ones stay in the shell's history. */
export const textOf = (file: string): string => readFileSync(file === '-' ? 0 : file, 'utf8').trim();
export const FILE = { type: 'string', coerce: textOf, requiresArg: true } as const;

/** A time as it is typed; RFC 3339 in UTC. `Date.parse` would read "last 5" as May 2001. */
export function timeOf(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || !/^\d{4}-\d\d-\d\d(T|$)/.test(text))
    throw new Error(`${text} is no time; write 2026-11-21 or 2026-11-21T14:00:00Z`);
  return new Date(ms).toISOString();
}

/** Whether an address is on this machine, by its text alone: names are not resolved. */
export function isLoopback(address: string): boolean {
  const { protocol = '', hostname = '' } = URL.parse(address) ?? {};
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
