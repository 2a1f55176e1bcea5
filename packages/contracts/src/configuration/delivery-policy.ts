import type { UtcTime } from '../event/payment-event.js';
import { openSecret, sealSecret } from './sealed-secret.js';
import type { Keyring } from './sealed-secret.js';

/** Bodies that an endpoint may choose; `bacen` is the callback of Banco Central's API Pix. */
export const NOTIFICATION_FORMATS = ['standard', 'bacen'] as const;

/** The longest `timeoutMs` of an endpoint. It bounds a whole attempt, and an orderly stop waits for it. */
export const LONGEST_TIMEOUT_MS = 30_000;

/** An endpoint's own terms of delivery; what is absent has the worker's default. */
export interface DeliveryPolicy {
  /** The whole attempt, 1,000 to 30,000 ms. */
  readonly timeoutMs?: number;
  /** Attempts at once in each worker; at most its `ENDPOINT_CONCURRENCY`. */
  readonly maxConcurrency?: number;
  readonly format?: (typeof NOTIFICATION_FORMATS)[number];
  /** Waits before attempt 2, 3, …, spelled as in `RETRY_DELAYS`: `["30s", "5m", "1h"]`. */
  readonly retryDelays?: readonly string[];
  /** When the endpoint's own client certificate ends. It is not sealed, so that a warning needs no key. */
  readonly certificateNotAfter?: UtcTime;
  /** What `sealPolicySecrets` made; absent when there is no such value. */
  readonly sealed?: string;
}

/** PEM; the certificate itself first, then its intermediates. */
export interface ClientPair {
  readonly certificate: string;
  readonly key: string;
}

/** The values of a policy that nobody may read at rest or on a topic. */
export interface PolicySecrets {
  /** Sent with each attempt, by their names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Presented to this endpoint in place of the operator's. */
  readonly clientCertificate?: ClientPair;
}

/** Checks the shape only; config-api checks the limits. */
export const DELIVERY_POLICY_SCHEMA = {
  type: 'object',
  properties: {
    timeoutMs: { type: 'integer', minimum: 1 },
    maxConcurrency: { type: 'integer', minimum: 1 },
    format: { type: 'string', enum: NOTIFICATION_FORMATS },
    retryDelays: { type: 'array', minItems: 1, items: { type: 'string' } },
    certificateNotAfter: { type: 'string', format: 'utc-date-time' },
    sealed: { type: 'string', minLength: 1 },
  },
} as const;

/** Differs from the owner of a signing secret, so neither sealed value opens in the other's place. */
const ownerOf = (key: string): string => `${key}/policy`;

/** `key`: that of the configuration; see `configurationKey` and `sealSecret`. */
export const sealPolicySecrets = (ring: Keyring, secrets: PolicySecrets, key: string): string =>
  sealSecret(ring, JSON.stringify(secrets), ownerOf(key));

/** Opens what `sealPolicySecrets` made; no secrets for undefined. Throws as `openSecret` does. */
export const openPolicySecrets = (ring: Keyring, sealed: string | undefined, key: string): PolicySecrets =>
  sealed === undefined ? {} : (JSON.parse(openSecret(ring, sealed, ownerOf(key))) as PolicySecrets);

/** A header's name as receivers compare it: CGI (RFC 3875 §4.1.18) and WSGI read `Webhook_Id` as `Webhook-Id`. */
export const normalizeHeaderName = (name: string): string => name.toLowerCase().replaceAll('_', '-');
