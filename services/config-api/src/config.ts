import { parseKeyring } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { readApiSettings } from '@webhooks/http-api';
import type { ApiSettings } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import type { KafkaSettings } from '@webhooks/kafka';
import { DEFAULT_URL_POLICY, parsePortRanges } from '@webhooks/outbound';
import type { UrlPolicy } from '@webhooks/outbound';
import type { SettingsReader } from '@webhooks/runtime';

export interface MongodbSettings {
  readonly uri: string;
  /** The database that the connection string names, `webhook_config` when it names none. */
  readonly database: string;
}

export interface ConfigApiConfig {
  readonly api: ApiSettings;
  readonly kafka: KafkaSettings;
  readonly mongodb: MongodbSettings;
  readonly keyring: Keyring;
  readonly urlPolicy: UrlPolicy;
  readonly maxWebhooksPerTenant: number;
}

/** The database of this service when the connection string names none. */
const DATABASE = 'webhook_config';
const MONGODB_URI = /^mongodb(?:\+srv)?:\/\/[^/?]+(?:\/([^?]*))?(?:\?.*)?$/;

function parseMongoUri(text: string): MongodbSettings {
  const parts = MONGODB_URI.exec(text);
  if (!parts) throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  return { uri: text, database: decodeURIComponent(parts[1] || DATABASE) };
}

function readUrlPolicy(settings: SettingsReader): UrlPolicy {
  const allowLocalhost = settings.developmentFlag('ALLOW_LOCALHOST_ENDPOINTS');
  return {
    allowedPorts:
      settings.parsed('ENDPOINT_PORTS', '443,8443,1024-65535', parsePortRanges) ??
      DEFAULT_URL_POLICY.allowedPorts,
    ownHosts: settings.list('OWN_HOSTS', []),
    allowLocalhost,
  };
}

export function readConfigApiConfig(settings: SettingsReader): ConfigApiConfig {
  return {
    api: readApiSettings(settings, 8081),
    kafka: readKafkaSettings(settings, 'config-api'),
    mongodb: settings.parsed('MONGODB_URI', undefined, parseMongoUri) ?? { uri: '', database: DATABASE },
    keyring: settings.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
    urlPolicy: readUrlPolicy(settings),
    maxWebhooksPerTenant: settings.integer('MAX_WEBHOOKS_PER_TENANT', 1_000, { min: 1, max: 100_000 }),
  };
}
