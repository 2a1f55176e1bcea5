import { createHmac, randomBytes } from 'node:crypto';

export interface Message {
  readonly id: string;
  readonly body: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** The vendor in `X-<Vendor>-Signature`. */
  readonly vendor: string;
  /** Seconds between the signature and now, default 0. */
  readonly ageSeconds?: number;
}

/** The name in the vendor's signature, of every command that signs. */
export const VENDOR = { type: 'string', default: 'Webhooks', describe: 'In X-<Vendor>-Signature' } as const;

export const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The headers of a delivery, signed with both signatures: Standard Webhooks 1.0.0 and the vendor's. */
export function signedHeaders({ id, body, secret, vendor, ageSeconds = 0 }: Message): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const timestamp = String(Math.floor(Date.now() / 1_000) - ageSeconds);
  const sign = (signed: string, encoding: 'base64' | 'hex'): string =>
    createHmac('sha256', key).update(signed).digest(encoding);
  return {
    'content-type': 'application/json',
    'user-agent': 'webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-attempt': '1',
    'webhook-signature': `v1,${sign(`${id}.${timestamp}.${body}`, 'base64')}`,
    [`X-${vendor}-Signature`]: `t=${timestamp},v1=${sign(`${timestamp}.${body}`, 'hex')}`,
    'content-length': String(Buffer.byteLength(body)),
  };
}
