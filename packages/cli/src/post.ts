import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createHmac, randomBytes } from 'node:crypto';
import { isIP, type LookupFunction } from 'node:net';

export interface Response {
  readonly status: number;
  readonly durationMs: number;
  readonly location: string | undefined;
}

/** As long as a delivery waits for a response. */
export const ATTEMPT_TIMEOUT_MS = 10_000;

/** Every name under localhost is both loopback addresses (RFC 6761 §6.3), whatever the hosts file has. Node tries both. */
const LOOPBACK = ['127.0.0.1', '::1'].map((address) => ({ address, family: isIP(address) }));
const lookupLoopback: LookupFunction = (_name, _options, callback) => {
  callback(null, LOOPBACK);
};

/**
 * Sends one POST with exactly these headers and this body, on a connection of its own. Redirects are not followed. Rejects with Node's
 * error, whose `code` says why there was no complete response. `isVerified`: whether the certificate must be valid.
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  isVerified: boolean,
): Promise<Response> {
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const lookup = /(^|\.)localhost$/.test(new URL(url).hostname) ? { lookup: lookupLoopback } : {};
  const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
  const options = { method: 'POST', headers, agent: false, signal, ...lookup };
  const request = /^https:/i.test(url)
    ? requestHttps(url, { ...options, rejectUnauthorized: isVerified })
    : requestHttp(url, options);
  request.on('response', (response) => {
    const { statusCode: status = 0, headers: received } = response.resume().on('error', reject);
    response.on('end', () => {
      resolve({ status, location: received.location, durationMs: Math.round(performance.now() - startedAt) });
    });
  });
  request.on('error', reject);
  // After an upgrade (101) Node emits neither a response nor an error.
  request.on('close', reject.bind(undefined, new Error('closed before the end of a response'))).end(body);
  return promise;
}

/** Returns why there was no response: the code of Node's error, or `TIMEOUT`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'TIMEOUT';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

interface Message {
  readonly id: string;
  readonly body: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** The vendor in `X-<Vendor>-Signature`. */
  readonly vendor: string;
  /** Seconds between the signature and now, default 0. */
  readonly ageSeconds?: number;
}

/** Option of every command that signs: the vendor's name in the signature header. */
export const VENDOR = { type: 'string', default: 'Webhooks', describe: 'In X-<Vendor>-Signature' } as const;

export const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Returns the headers of a delivery, signed with both signatures: Standard Webhooks 1.0.0 and the vendor's. */
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
