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

/** The zone of the payments' country, of every time that is typed or shown without another one. */
export const ZONE = 'America/Sao_Paulo';
export const today = (): string => new Date().toLocaleDateString('sv', { timeZone: ZONE });

/**
 * Parses a typed date or time; a time alone, such as `14:03`, is today's. Returns RFC 3339 in UTC. Throws for any other text: `Date.parse`
 * would read "last 5" as May 2001.
 */
export function timeOf(text: string): string {
  const dated = /^\d\d:/.test(text) ? `${today()}T${text}` : text.replace(/^[\d-]{10}$/, '$&T00:00');
  const ms = Date.parse(/T[\d:.]+$/.test(dated) ? `${dated}-03:00` : dated);
  if (Number.isNaN(ms) || !/^\d{4}-\d\d-\d\dT/.test(dated))
    throw new Error(`${text} is no time; write 14:03, 2026-11-21 or 2026-11-21T14:00:00Z`);
  return new Date(ms).toISOString();
}

/** Options of lists. */
export const EVENT_TYPE = { choices: EVENT_TYPES, describe: 'Of this type' } as const;
export const TO = { type: 'string', coerce: timeOf, describe: 'Until this time' } as const;
export const LIMIT = { type: 'number', default: 50, describe: 'At most this many' } as const;
export const YES = { alias: 'y', type: 'boolean', default: false, describe: 'Do not ask' } as const;
export const REF = {
  type: 'string',
  describe: 'A UUID of your own; default: the service makes one',
} as const;

/** Parses typed reais, such as `87,30` or `R$ 87.30`. Returns them as the service writes them: `87.30`. */
export function reaisOf(text: string): string {
  const [, reais, centavos = '00'] = /^(?:R\$ ?)?(\d+)(?:[.,](\d\d))?$/.exec(text) ?? [];
  if (reais === undefined) throw new Error(`${text} is no amount; write 87,30 or 87.30`);
  return `${reais}.${centavos}`;
}

/** Whether an address is on this machine, by its text alone: host names are not resolved. */
export function isLoopback(address: string): boolean {
  const { protocol = '', hostname = '' } = URL.parse(address) ?? {};
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
