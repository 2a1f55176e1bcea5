import { readFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { describeFault, usage } from './failure.js';

export const EVENT_TYPES = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'] as const;

/** Declares a positional argument that its command requires. */
export const positional =
  <N extends string>(name: N, describe: string) =>
  (own: Argv) =>
    own.positional(name, { type: 'string', demandOption: true, describe });

/** Reads a file, or standard input for `-`. Throws an error that says in words why it cannot. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new Error(describeFault(error, file), { cause: error });
  }
}

/** Secrets are passed this way, because typed ones stay in the shell's history. */
export const textOf = (file: string): string => readText(file).trim();
export const FILE = { type: 'string', coerce: textOf, requiresArg: true } as const;

/** Options of lists. */
export const EVENT_TYPE = { choices: EVENT_TYPES, describe: 'Of this type' } as const;
export const LIMIT = { type: 'number', default: 50, describe: 'At most this many' } as const;
/** Says that a list may have been cut; empty for a shorter one. */
export const cutText = ({ length }: readonly unknown[], { limit }: { readonly limit: number }): string =>
  length < limit ? '' : `There may be more than ${limit}: --limit`;
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

/** Whether an address is of this machine, as a container may call it, too. Its text decides: host names are not resolved. */
export function isHere(address: URL | string): boolean {
  const { protocol = '', hostname = '' } = URL.parse(String(address)) ?? {};
  const here = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\]|host\.docker\.internal)$/;
  return /^https?:$/.test(protocol) && here.test(hostname);
}

/** Parses a typed address of a receiver: `3000`, `localhost:3000/pix` or a whole one. */
export function receiverOf(text: string): URL {
  const address = text.includes('://') ? text : `http://${text.replace(/^\d+(?=\/|$)/, 'localhost:$&')}`;
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new Error(`${text} is no address; write 3000, localhost:3000/pix or http://localhost:3000/pix`);
}

/** Returns a signing secret. Throws for any other text, without repeating it. */
export function secretOf(text: string): string {
  const { length } = Buffer.from(text.replace('whsec_', ''), 'base64');
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text) && length >= 24 && length <= 64) return text;
  throw usage(
    'a signing secret is whsec_ and the base64 of 24 to 64 bytes',
    'correct --secret, WEBHOOKS_SECRET or the profile',
  );
}
