import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Standard Webhooks 1.0.0: 24 to 64 random bytes. Generated secrets have 32. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;
const GENERATED_BYTES = 32;

/** A secret ready for signing. Prepare it once and reuse it. In logs its content is hidden. */
export type PreparedSecret = KeyObject;

export type ParsedSecret =
  { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly reason: string };

/** Generates a signing secret in the form shown to its owner, once: `whsec_` + base64 of 32 random bytes. */
export function generateSecret(): string {
  return `${PREFIX}${randomBytes(GENERATED_BYTES).toString('base64')}`;
}

/** Parses a secret: `whsec_` and the key bytes in base64. The reason never repeats the secret. */
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

/** Prepares a secret for signing. Throws when the text is not a secret; the message does not repeat it. */
export function prepareSecret(text: string): PreparedSecret {
  const parsed = parseSecret(text);
  if (!parsed.ok) throw new Error(`expected a signing secret; it ${parsed.reason}`);
  return createSecretKey(parsed.bytes);
}

export interface SignedMessage {
  /** Newest first; two during a rotation. Without any, the signature is an empty string. */
  readonly secrets: readonly PreparedSecret[];
  /** Unix seconds of this attempt, the value of `webhook-timestamp`. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent. */
  readonly body: Buffer;
}

/** HMAC-SHA256 of `prefix` followed by `body`. */
const sign = (secret: PreparedSecret, prefix: string, body: Buffer, encoding: 'base64' | 'hex'): string =>
  createHmac('sha256', secret).update(prefix).update(body).digest(encoding);

/** Returns `webhook-signature` of Standard Webhooks 1.0.0: `v1,<base64>` for each secret, separated by a space. */
export function signStandardWebhooks(message: SignedMessage & { readonly id: string }): string {
  const { secrets, id, timestampSeconds, body } = message;
  const prefix = `${id}.${timestampSeconds}.`;
  return secrets.map((secret) => `v1,${sign(secret, prefix, body, 'base64')}`).join(' ');
}

/** Returns `X-<Vendor>-Signature`: `t=<unix s>,v1=<hex>` over `<t>.<body>`, with one `v1` for each secret. */
export function signVendor({ secrets, timestampSeconds, body }: SignedMessage): string {
  const prefix = `${timestampSeconds}.`;
  const entries = secrets.map((secret) => `v1=${sign(secret, prefix, body, 'hex')}`);
  return secrets.length === 0 ? '' : [`t=${timestampSeconds}`, ...entries].join(',');
}

const VENDOR = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*$/;

/**
 * Returns the signature header's name for a configured vendor name. Throws when the name is not valid in a header
 * name.
 */
export function vendorSignatureHeader(vendor: string): string {
  if (!VENDOR.test(vendor) || vendor.length > 40) {
    throw new Error(
      `expected a vendor name of letters, digits and hyphens, at most 40 characters, got "${vendor}"`,
    );
  }
  return `X-${vendor}-Signature`;
}
