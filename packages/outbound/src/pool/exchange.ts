import type { ClientPair } from '@webhooks/contracts';

/** The destination of a request. `checkEndpointUrl` creates it, or the configuration of a webhook. */
export interface SendTarget {
  /** `https://host[:port]`, lower case. */
  readonly origin: string;
  /** Path and query, beginning with `/`. */
  readonly path: string;
}

/** The client certificate of one endpoint, presented instead of the sender's. */
export interface EndpointCertificate extends ClientPair {
  /** Identifies the pair: differs when the chain or the key does. */
  readonly fingerprint: string;
}

export interface SendRequest {
  /** The owner of the endpoint. Tenants share no connections. */
  readonly tenantId: string;
  readonly target: SendTarget;
  /** Flat list `[name, value, name, value, …]`, without `host` and the headers that frame a request. */
  readonly headers: readonly string[];
  /** Sent unchanged and never modified, so attempts can share the same bytes. */
  readonly body: Buffer;
  /** Name of a response header, in lower case. The result returns its value as `kept`. */
  readonly keptHeader?: string;
  /**
   * Called when a connection is ready, right before the first byte; false withdraws the post. Default: true. On the
   * second thread it is called before the connection is opened.
   */
  readonly mayStart?: () => boolean;
  /** Milliseconds; default: the sender's. The connect timeout applies in addition. */
  readonly timeoutMs?: number | undefined;
  /** Default: the sender's. Requests with different certificates share neither connections nor TLS sessions. */
  readonly clientCertificate?: EndpointCertificate | undefined;
}

/** Why no response arrived. These words must not change: they are stored with attempts and shown to integrators. */
export type ErrorClass =
  'DNS' | 'CONNECT' | 'CONNECT_TIMEOUT' | 'TLS' | 'SOCKET' | 'TIMEOUT' | 'PROTOCOL' | 'ADDRESS_DENIED';

/** How a post ended, after `durationMs`. */
export type SendResult = { readonly durationMs: number } & (
  | Responded
  /**
   * No response, because of a fault on the way or at the endpoint. Retryable. `code`: a short word such as
   * `ECONNREFUSED`.
   */
  | {
      readonly kind: 'unreachable';
      readonly error: Exclude<ErrorClass, 'ADDRESS_DENIED'>;
      readonly code: string;
    }
  | Forbidden
  /** Nothing was sent: `mayStart` returned false. */
  | { readonly kind: 'withdrawn' }
  /**
   * Nothing was sent: the attempt needed a new connection, and its tenant opens none while its handshakes are
   * paused.
   */
  | { readonly kind: 'throttled' }
);

/** A final status line and headers arrived, so the status decides. The body is not used. */
interface Responded {
  readonly kind: 'responded';
  readonly status: number;
  /** The text of `Retry-After`, at most 64 characters, not parsed. */
  readonly retryAfter?: string;
  /** The text of `keptHeader`, at most 64 characters. */
  readonly kept?: string;
  /** Whether the body exceeded the limit, ended early, or was incomplete at the deadline. */
  readonly cut: boolean;
}

/** The name resolves to an address that must never be connected to, so nothing was sent. */
interface Forbidden {
  readonly kind: 'forbidden';
  readonly error: 'ADDRESS_DENIED';
  readonly code: 'ADDRESS_DENIED';
  /** The denied range. For internal logs only. */
  readonly reason: string;
}
