import { isUtcTime, parseKeyring } from '@webhooks/contracts';
import type { UtcTime } from '@webhooks/contracts';
import { readApiSettings } from '@webhooks/http-api';
import type { ApiDefaults } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import { readMongodbSettings } from '@webhooks/mongodb';
import { DEFAULT_PORTS, createAddressPolicy, parsePortRanges, readSenderSettings } from '@webhooks/outbound';
import type { SenderSettings, UrlPolicy } from '@webhooks/outbound';
import type { SettingsReader } from '@webhooks/runtime';

/**
 * Ownership challenges that an endpoint must pass before a webhook is enabled with its URL. `challenge`: respond to a
 * test notification with 2xx and the value of `Webhook-Challenge`. `mtls`: refuse a test notification without the
 * client certificate of this service, and accept one with it.
 */
const REGISTRATION_PROOFS = ['none', 'challenge', 'mtls'] as const;

/** A source address of deliveries, as the operator has configured it. */
export interface EgressAddress {
  /** IPv4 or IPv6, or a block such as `198.51.100.8/30`. */
  readonly address: string;
  /** When an announced address will come into use; absent: it is in use. */
  readonly validFrom?: UtcTime;
}

/** Name of the database when the connection string has none. */
export const DATABASE = 'webhook_config';

/** A tenant may register all its webhooks in a row. Open requests end within 6 s: 4 of the database, 2 of Kafka. */
const API_DEFAULTS: ApiDefaults = { port: 8081, maxOpenRequests: 128, tenantRequestsPerSecond: 100 };

function readUrlPolicy(settings: SettingsReader, { addresses }: SenderSettings): UrlPolicy {
  return {
    allowedPorts: settings.parsed('ENDPOINT_PORTS', DEFAULT_PORTS, parsePortRanges) ?? [],
    ownHosts: settings.list('OWN_HOSTS', []),
    allowLocalhost: addresses.allowLoopback,
  };
}

/** Parses a list such as `198.51.100.7,198.51.100.8/30@2026-12-01T00:00:00Z`. Throws with the first malformed entry. */
const parseEgressAddresses = (text: string): readonly EgressAddress[] =>
  text.split(',').map((entry) => {
    const [address = '', ...times] = entry.trim().split('@');
    createAddressPolicy({ deny: [address] });
    if (times.length === 0) return { address };
    const validFrom = times.join('@');
    if (!isUtcTime(validFrom)) throw new Error(`expected an RFC 3339 time in UTC after '${address}@'`);
    return { address, validFrom };
  });

function parseProof(text: string): (typeof REGISTRATION_PROOFS)[number] {
  const proof = REGISTRATION_PROOFS.find((known) => known === text);
  if (proof === undefined) throw new Error(`expected one of ${REGISTRATION_PROOFS.join(', ')}`);
  return proof;
}

export function readConfigApiConfig(settings: SettingsReader) {
  const sending = readSenderSettings(settings);
  const proof = settings.parsed('REGISTRATION_PROOF', 'none', parseProof) ?? 'none';
  settings.refuseWhen(
    proof === 'mtls' && sending.clientCertificate === undefined,
    'REGISTRATION_PROOF=mtls needs CLIENT_CERTIFICATE_FILE and CLIENT_KEY_FILE',
  );
  return {
    api: readApiSettings(settings, API_DEFAULTS),
    kafka: readKafkaSettings(settings, 'config-api'),
    mongodb: readMongodbSettings(settings, DATABASE),
    keyring: settings.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
    urlPolicy: readUrlPolicy(settings, sending),
    sending,
    proof,
    egress: settings.parsed('EGRESS_ADDRESSES', '', parseEgressAddresses) ?? [],
    // The worker reads it by the same name.
    policyRules: {
      endpointConcurrency: settings.integer('ENDPOINT_CONCURRENCY', 64, { min: 1, max: 1_000 }),
      vendorHeader: sending.vendorHeader,
    },
    maxWebhooksPerTenant: settings.integer('MAX_WEBHOOKS_PER_TENANT', 1_000, { min: 1, max: 100_000 }),
  };
}

export type ConfigApiConfig = ReturnType<typeof readConfigApiConfig>;
