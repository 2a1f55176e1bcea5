import { parseKeyring } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { readApiSettings } from '@webhooks/http-api';
import type { ApiSettings } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import type { KafkaSettings } from '@webhooks/kafka';
import { DEFAULT_URL_POLICY, parsePortRanges } from '@webhooks/outbound';
import type { UrlPolicy } from '@webhooks/outbound';
import type { SettingsReader } from '@webhooks/runtime';

export interface ConfigApiConfig {
  readonly api: ApiSettings;
  readonly kafka: KafkaSettings;
  readonly mongodbUri: string;
  readonly keyring: Keyring;
  readonly urlPolicy: UrlPolicy;
  readonly maxWebhooksPerTenant: number;
}

function parseMongoUri(text: string): string {
  if (!/^mongodb(\+srv)?:\/\/[^/]/.test(text))
    throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  return text;
}

function readUrlPolicy(settings: SettingsReader): UrlPolicy {
  const allowLocalhost = settings.flag('ALLOW_LOCALHOST_ENDPOINTS', false);
  settings.refuseWhen(
    allowLocalhost && process.env['NODE_ENV'] === 'production',
    'ALLOW_LOCALHOST_ENDPOINTS=true is for development and must not be set with NODE_ENV=production',
  );
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
    mongodbUri: settings.parsed('MONGODB_URI', undefined, parseMongoUri) ?? '',
    keyring: settings.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
    urlPolicy: readUrlPolicy(settings),
    maxWebhooksPerTenant: settings.integer('MAX_WEBHOOKS_PER_TENANT', 1_000, { min: 1, max: 100_000 }),
  };
}
