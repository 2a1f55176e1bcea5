import type { AddressRules } from './address-policy.js';
import type { ClientCertificate } from './client-certificate.js';
import type { PoolLimits } from './pool/origin-pool.js';
import type { Resolve } from './resolver.js';

/** What can be told to another thread. */
export interface PlainOptions extends Partial<PoolLimits> {
  /** What may be connected to. `allowLoopback` also lets the name `localhost` pass. */
  readonly addresses?: AddressRules;
  /** PEM file with certificate authorities to trust besides the system's (`ENDPOINT_CA_FILE`). */
  readonly extraCaFile?: string;
  /** Default: connections present none. */
  readonly clientCertificate?: ClientCertificate;
  /** Resolving, connecting and TLS together, default 3,000 ms; waiting for its turn is not counted. */
  readonly connectTimeoutMs?: number;
  /** From `post` to the last byte of the response unless the request says otherwise, default 10,000 ms. */
  readonly attemptTimeoutMs?: number;
}

export interface SenderOptions extends PlainOptions {
  /** Default: name servers of the machine, asked for the absolute name. */
  readonly resolve?: Resolve;
  /** Called with each tenant whose new connections are opened on the thread of costly tenants from now on. */
  readonly onIsolated?: (tenantId: string) => void;
}
