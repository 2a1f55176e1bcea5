import type { ClientPair } from '@webhooks/contracts';

/** Where to: made once for each configuration (`checkEndpointUrl` gives it), not for each request. */
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

/** Why no response came. Stable words: they are stored with attempts and shown to integrators. */
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

/**
 * The final status line and headers came: the status decides, whatever becomes of the body after them
 * (it is not used). `cut` says that the body was longer than the limit, broke off,
 * or was still coming at the deadline.
 */
export interface Responded {
  readonly kind: 'responded';
  readonly status: number;
  /** The text of `Retry-After`, at most 64 characters, not yet parsed. */
  readonly retryAfter?: string;
  /** The text of `keptHeader`, at most 64 characters. */
  readonly kept?: string;
  readonly cut: boolean;
  readonly durationMs: number;
}

/** No response: a fault on the way or at the endpoint. Retryable. `code` is a short word such as `ECONNREFUSED`. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly error: Exclude<ErrorClass, 'ADDRESS_DENIED'>;
  readonly code: string;
  readonly durationMs: number;
}

/** The name leads to an address that must never be connected to; nothing was sent. `reason` is for our own log only. */
export interface Forbidden {
  readonly kind: 'forbidden';
  readonly error: 'ADDRESS_DENIED';
  readonly code: 'ADDRESS_DENIED';
  readonly reason: string;
  readonly durationMs: number;
}

/** Nothing was sent: when there was a connection the caller did not want it any more. */
export interface Withdrawn {
  readonly kind: 'withdrawn';
  readonly durationMs: number;
}

/** Nothing was sent: it needed a new connection, and those of its tenant rested for what they cost us in CPU time. */
export interface Throttled {
  readonly kind: 'throttled';
  readonly durationMs: number;
}

export type SendResult = Responded | Unreachable | Forbidden | Withdrawn | Throttled;
