import { createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Standard Webhooks 1.0.0: 24 to 64 random bytes; ours have 32. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;
const OUR_BYTES = 32;

/**
 * A secret ready for signing; make it once for each secret and keep it. It shows nothing of itself in logs.
 */
export interface PreparedSecret {
  readonly key: KeyObject;
}

export type ParsedSecret =
  { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly reason: string };

/** A new signing secret as it is shown to its owner, once: `whsec_` + base64 of 32 random bytes. */
export function generateSecret(): string {
  return `${PREFIX}${randomBytes(OUR_BYTES).toString('base64')}`;
}

/** The key bytes are what stands after `whsec_`, decoded from base64. The reason never repeats the secret. */
export function parseSecret(text: unknown): ParsedSecret {
  if (typeof text !== 'string' || !text.startsWith(PREFIX))
    return { ok: false, reason: `does not start with ${PREFIX}` };
  const encoded = text.slice(PREFIX.length);
  if (!BASE64.test(encoded)) return { ok: false, reason: 'is not base64' };
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
    return { ok: false, reason: `has ${bytes.length} bytes, expected ${MIN_BYTES} to ${MAX_BYTES}` };
  }
  return { ok: true, bytes };
}

/** Throws when the text is no secret (without repeating it). */
export function prepareSecret(text: string): PreparedSecret {
  const parsed = parseSecret(text);
  if (!parsed.ok) throw new Error(`expected a signing secret; it ${parsed.reason}`);
  return { key: createSecretKey(parsed.bytes) };
}
