import type { ClientPair } from '@webhooks/contracts';

/** Where a request goes. Made once for each configuration by `checkEndpointUrl`. */
export interface SendTarget {
  /** `https://host[:port]`, lower case. */
  readonly origin: string;
  /** Path and query, beginning with `/`. */
  readonly path: string;
}

/** The pair of one endpoint, presented in place of the sender's. */
export interface EndpointCertificate extends ClientPair {
  /** Differs when the chain or the key does. */
  readonly fingerprint: string;
}

export interface SendRequest {
  /** Whose endpoint it is: connections are never shared between tenants. */
  readonly tenantId: string;
  readonly target: SendTarget;
  /** Flat list `[name, value, name, value, …]`, without `host` and what frames a request. */
  readonly headers: readonly string[];
  /** Sent as it is; never changed, so the same bytes can be shared among attempts. */
  readonly body: Buffer;
  /** Name of a header, in lower case: the result has its value in the response as `kept`. */
  readonly keptHeader?: string;
  /** Called once there is a connection, right before the first byte: false withdraws the post. Default: it may. */
  readonly mayStart?: () => boolean;
  /** Default: that of the sender. Connecting has its own in any case. */
  readonly timeoutMs?: number | undefined;
  /** Default: what the sender presents. Neither connections nor TLS sessions are shared with any other. */
  readonly clientCertificate?: EndpointCertificate | undefined;
}

/** Why no response came. These words must not change: they are stored with attempts and shown to integrators. */
export const ERROR_CLASSES = [
  'DNS',
  'CONNECT',
  'CONNECT_TIMEOUT',
  'TLS',
  'SOCKET',
  'TIMEOUT',
  'PROTOCOL',
  'ADDRESS_DENIED',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** How a post ended, after `durationMs`. */
export type SendResult = { readonly durationMs: number } & (
  | Responded
  /** No response, by a fault on the way or at the endpoint. Retryable. `code` is a short word such as `ECONNREFUSED`. */
  | {
      readonly kind: 'unreachable';
      readonly error: Exclude<ErrorClass, 'ADDRESS_DENIED'>;
      readonly code: string;
    }
  | Forbidden
  /** Nothing was sent: `mayStart` returned false. */
  | { readonly kind: 'withdrawn' }
  /** Nothing was sent: it needed a new connection, and its tenant opens none while its handshakes rest for their CPU time. */
  | { readonly kind: 'throttled' }
);

/** A final status line and headers came, so the status decides. The body is not used. */
interface Responded {
  readonly kind: 'responded';
  readonly status: number;
  /** The text of `Retry-After`, at most 64 characters, not parsed. */
  readonly retryAfter?: string;
  /** The text of `keptHeader`, at most 64 characters. */
  readonly kept?: string;
  /** Whether the body was longer than the limit, broke off, or was still coming at the deadline. */
  readonly cut: boolean;
}

/** The name leads to an address that must never be connected to, so nothing was sent. */
interface Forbidden {
  readonly kind: 'forbidden';
  readonly error: 'ADDRESS_DENIED';
  readonly code: 'ADDRESS_DENIED';
  /** For our own log only. */
  readonly reason: string;
}
