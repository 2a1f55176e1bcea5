import { createHmac } from 'node:crypto';
import type { PreparedSecret } from './secret.js';

export interface SignedMessage {
  /** Newest first; two during a rotation. None: nothing is signed and the text is empty. */
  readonly secrets: readonly PreparedSecret[];
  /** Unix seconds of this attempt, the value of `webhook-timestamp`. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent. */
  readonly body: Buffer;
}

/** HMAC-SHA256 of `prefix` and `body`, one after the other. */
const sign = ({ key }: PreparedSecret, prefix: string, body: Buffer, encoding: 'base64' | 'hex'): string =>
  createHmac('sha256', key).update(prefix).update(body).digest(encoding);

/** `webhook-signature` of Standard Webhooks 1.0.0: `v1,<base64>` for each secret, separated by a space. */
export function signStandardWebhooks(message: SignedMessage & { readonly id: string }): string {
  const { secrets, id, timestampSeconds, body } = message;
  const prefix = `${id}.${timestampSeconds}.`;
  return secrets.map((secret) => `v1,${sign(secret, prefix, body, 'base64')}`).join(' ');
}

/** `X-<Vendor>-Signature`: `t=<unix s>,v1=<hex>` over `<t>.<body>`, one `v1` for each secret. */
export function signVendor({ secrets, timestampSeconds, body }: SignedMessage): string {
  const prefix = `${timestampSeconds}.`;
  const entries = secrets.map((secret) => `v1=${sign(secret, prefix, body, 'hex')}`);
  return secrets.length === 0 ? '' : [`t=${timestampSeconds}`, ...entries].join(',');
}

const VENDOR = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*$/;

/** The header's name for a vendor name out of the configuration. Throws when it is no part of a header name. */
export function vendorSignatureHeader(vendor: string): string {
  if (!VENDOR.test(vendor) || vendor.length > 40) {
    throw new Error(
      `expected a vendor name of letters, digits and hyphens, at most 40 characters, got "${vendor}"`,
    );
  }
  return `X-${vendor}-Signature`;
}
