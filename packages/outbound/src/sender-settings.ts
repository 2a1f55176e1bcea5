import type { SettingsReader } from '@webhooks/runtime';
import { createAddressPolicy, type AddressRules } from './guard/address-policy.js';
import { readClientCertificate, type ClientCertificate } from './guard/client-certificate.js';
import { parseCredentials, parseEgressProxy, type EgressProxy } from './guard/egress-proxy.js';
import type { PoolLimits } from './pool/origin-pool.js';
import type { Resolve, ResolverOptions } from './guard/resolver.js';
import { vendorSignatureHeader } from './signature.js';

/** Options that can be sent to another thread. */
export interface PlainOptions extends Partial<PoolLimits> {
  /** Which addresses may be connected to. `allowLoopback` also admits the name `localhost`. */
  readonly addresses?: AddressRules;
  /** PEM file with certificate authorities that are trusted besides the system's (`ENDPOINT_CA_FILE`). */
  readonly extraCaFile?: string | undefined;
  /** The sender's client certificate; default: none. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** How both threads resolve names. */
  readonly resolver?: ResolverOptions;
  /** The proxy of all connections; default: none. */
  readonly egressProxy?: EgressProxy | undefined;
  /**
   * Time for resolving, connecting and TLS together; default 3,000 ms. The wait for a handshake slot is not
   * included.
   */
  readonly connectTimeoutMs?: number;
  /** Time from `post` to the last byte of the response, unless the request sets its own; default 10,000 ms. */
  readonly attemptTimeoutMs?: number;
}

export interface SenderOptions extends PlainOptions {
  /** Replaces the resolver of this thread. */
  readonly resolve?: Resolve | undefined;
  /** Called with each tenant whose new connections open on the thread of costly tenants from now on. */
  readonly onIsolated?: (tenantId: string) => void;
}

function parseHeaderValue(text: string): string {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(text))
    throw new Error('expected 1 to 200 printable ASCII characters');
  return text;
}

/** Parses a list of blocks such as `10.0.0.0/8,::1`. Throws for the first entry that is no block. */
const parseBlocks =
  (kind: 'allow' | 'deny') =>
  (text: string): readonly string[] => {
    const blocks = text.split(',').flatMap((block) => block.trim() || []);
    createAddressPolicy({ [kind]: blocks });
    return blocks;
  };

/** Reads the client certificate. Both files must be set, or none. */
function readPair(settings: SettingsReader): ClientCertificate | undefined {
  const keyFile = settings.optionalText('CLIENT_KEY_FILE');
  const fallback = keyFile === undefined ? '' : undefined;
  return settings.parsed('CLIENT_CERTIFICATE_FILE', fallback, (certificateFile) => {
    if (keyFile === undefined) throw new Error('CLIENT_KEY_FILE is required with it');
    // An expired certificate is accepted at start, and alerts report it: a failed start would stop all deliveries.
    return readClientCertificate({ certificateFile, keyFile }, true);
  });
}

function readEgressProxy(settings: SettingsReader): EgressProxy | undefined {
  const authorization = settings.parsed('EGRESS_PROXY_CREDENTIALS', '', parseCredentials);
  const proxy = settings.parsed('EGRESS_PROXY', '', parseEgressProxy);
  return proxy && { ...proxy, authorization };
}

/** Reads the settings of the sender. */
export function readSenderSettings(settings: SettingsReader) {
  const allowLoopback = settings.flag('ALLOW_LOCALHOST_ENDPOINTS', false);
  settings.refuseInProduction(
    allowLoopback,
    'ALLOW_LOCALHOST_ENDPOINTS=true is for development and must not be set with NODE_ENV=production',
  );
  return {
    extraCaFile: settings.optionalText('ENDPOINT_CA_FILE'),
    clientCertificate: readPair(settings),
    egressProxy: readEgressProxy(settings),
    addresses: {
      allowLoopback,
      deny: settings.parsed('ENDPOINT_DENIED_CIDRS', '', parseBlocks('deny')) ?? [],
      allow: settings.parsed('ENDPOINT_ALLOWED_CIDRS', '', parseBlocks('allow')) ?? [],
    },
    userAgent: settings.parsed('USER_AGENT', 'webhooks/1', parseHeaderValue) ?? '',
    /** Name of the vendor's signature header. */
    vendorHeader: settings.parsed('SIGNATURE_VENDOR', 'Webhooks', vendorSignatureHeader) ?? '',
  };
}

/** The settings of a sender, with the `User-Agent` and the name of the vendor's signature header. */
export type SenderSettings = ReturnType<typeof readSenderSettings>;
