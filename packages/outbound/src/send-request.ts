/** Where to: made once for each configuration (`checkEndpointUrl` gives it), not for each request. */
export interface SendTarget {
  /** `https://host[:port]`, lower case. */
  readonly origin: string;
  /** Path and query, beginning with `/`. */
  readonly path: string;
}

/** PEM; the certificate itself first, then its intermediates. */
export interface ClientPair {
  readonly certificate: string;
  readonly key: string;
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
  /** Asked once there is a connection, right before the first byte: false withdraws the post. Default: it may. */
  readonly mayStart?: () => boolean;
  /** Default: that of the sender. Connecting has its own in any case. */
  readonly timeoutMs?: number | undefined;
  /** Default: what the sender presents. Neither connections nor TLS sessions are shared with any other. */
  readonly clientCertificate?: EndpointCertificate | undefined;
}
