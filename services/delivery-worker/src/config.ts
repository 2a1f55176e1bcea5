import { parseKeyring } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { readKafkaSettings } from '@webhooks/kafka';
import type { KafkaSettings } from '@webhooks/kafka';
import { vendorSignatureHeader } from '@webhooks/outbound';
import type { SettingsReader } from '@webhooks/runtime';
import { DEFAULT_DELAYS, parseDelays, parseDuration } from './schedule.js';
import type { RetrySchedule } from './schedule.js';

export interface WorkerConfig {
  readonly kafka: KafkaSettings;
  readonly groupPrefix: string;
  readonly keyring: Keyring;
  readonly vendorHeader: string;
  readonly userAgent: string;
  readonly schedule: RetrySchedule;
  /** Records in flight, for each of the three sources. */
  readonly maxInFlight: number;
  readonly maxInFlightBytes: number;
  /** Attempts that one endpoint gets at once from this worker. */
  readonly endpointConcurrency: number;
  /** One successful attempt in so many is logged; failures always are. */
  readonly successLogSample: number;
  readonly allowLocalhost: boolean;
  readonly endpointCaFile?: string;
  readonly deniedCidrs: readonly string[];
  readonly allowedCidrs: readonly string[];
}

const DAY_MS = 86_400_000;
const MIB = 1_048_576;

const readSchedule = (settings: SettingsReader): RetrySchedule => ({
  delaysMs: settings.parsed('RETRY_DELAYS', DEFAULT_DELAYS, parseDelays) ?? [],
  jitter: settings.integer('RETRY_JITTER_PERCENT', 20, { max: 50 }) / 100,
  maxAgeMs: settings.parsed('DELIVERY_MAX_AGE', '8d', parseDuration) ?? 8 * DAY_MS,
});

export function readWorkerConfig(settings: SettingsReader): WorkerConfig {
  const allowLocalhost = settings.developmentFlag('ALLOW_LOCALHOST_ENDPOINTS');
  const endpointCaFile = settings.optionalText('ENDPOINT_CA_FILE');
  return {
    kafka: readKafkaSettings(settings, 'delivery-worker'),
    groupPrefix: settings.text('GROUP_PREFIX', 'delivery-worker'),
    keyring: settings.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
    vendorHeader: settings.parsed('SIGNATURE_VENDOR', 'Webhooks', vendorSignatureHeader) ?? '',
    userAgent: settings.text('USER_AGENT', 'webhooks/1'),
    schedule: readSchedule(settings),
    maxInFlight: settings.integer('MAX_IN_FLIGHT', 1_000, { min: 1, max: 100_000 }),
    maxInFlightBytes: settings.integer('MAX_IN_FLIGHT_BYTES', 64 * MIB, { min: MIB }),
    endpointConcurrency: settings.integer('ENDPOINT_CONCURRENCY', 64, { min: 1, max: 1_000 }),
    successLogSample: settings.integer('SUCCESS_LOG_SAMPLE', 100, { min: 1 }),
    allowLocalhost,
    ...(endpointCaFile === undefined ? {} : { endpointCaFile }),
    deniedCidrs: settings.list('ENDPOINT_DENIED_CIDRS', []),
    allowedCidrs: settings.list('ENDPOINT_ALLOWED_CIDRS', []),
  };
}
