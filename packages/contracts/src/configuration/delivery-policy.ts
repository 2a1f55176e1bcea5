import type { UtcTime } from '../event/payment-event.js';
import { openSecret, sealSecret } from './sealed-secret.js';
import type { Keyring } from './sealed-secret.js';

/** Formats of the body that an endpoint may choose. `bacen`: the callback of Banco Central's API Pix. */
export const NOTIFICATION_FORMATS = ['standard', 'bacen'] as const;

/** The longest `timeoutMs` of an endpoint. It limits a whole attempt, and a graceful shutdown waits for it. */
export const LONGEST_TIMEOUT_MS = 30_000;

/** Delivery settings of one endpoint. An absent field has the worker's default. */
export interface DeliveryPolicy {
  /** Deadline of a whole attempt, 1,000 to 30,000 ms. */
  readonly timeoutMs?: number;
  /** Most concurrent attempts in each worker; at most the worker's `ENDPOINT_CONCURRENCY`. */
  readonly maxConcurrency?: number;
  readonly format?: (typeof NOTIFICATION_FORMATS)[number];
  /** Delays before attempt 2, 3, …, written as in `RETRY_DELAYS`: `["30s", "5m", "1h"]`. */
  readonly retryDelays?: readonly string[];
  /** When the client certificate for this endpoint expires. Not sealed, so that a warning needs no key. */
  readonly certificateNotAfter?: UtcTime;
  /** The sealed `PolicySecrets`; absent when there are none. */
  readonly sealed?: string;
}

/** A client certificate and its key as PEM. `certificate`: the certificate first, then its intermediates. */
export interface ClientPair {
  readonly certificate: string;
  readonly key: string;
}

/** The secret values of a policy: encrypted in the database and on the topic. */
export interface PolicySecrets {
  /** Headers that are sent with each attempt, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The client certificate for this endpoint; absent: the operator's. */
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

/** The owner of sealed policy secrets. It differs from that of a signing secret, so the two cannot be swapped. */
export const policyOwnerOf = (key: string): string => `${key}/policy`;

/** Seals the secrets of a policy. `key`: the key of the configuration; see `configurationKey` and `sealSecret`. */
export const sealPolicySecrets = (ring: Keyring, secrets: PolicySecrets, key: string): string =>
  sealSecret(ring, JSON.stringify(secrets), policyOwnerOf(key));

/** Opens sealed policy secrets; `{}` for undefined. Throws as `openSecret` does. */
export const openPolicySecrets = (ring: Keyring, sealed: string | undefined, key: string): PolicySecrets =>
  sealed === undefined ? {} : (JSON.parse(openSecret(ring, sealed, policyOwnerOf(key))) as PolicySecrets);

/**
 * Returns a header's name in the form that receivers compare. CGI (RFC 3875 §4.1.18) and WSGI read `Webhook_Id` as
 * `Webhook-Id`.
 */
export const normalizeHeaderName = (name: string): string => name.toLowerCase().replaceAll('_', '-');
