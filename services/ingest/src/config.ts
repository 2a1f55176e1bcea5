import { readApiSettings } from '@webhooks/http-api';
import type { ApiSettings } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import type { KafkaSettings } from '@webhooks/kafka';
import type { SettingsReader } from '@webhooks/runtime';

export interface IngestConfig {
  readonly api: ApiSettings;
  readonly kafka: KafkaSettings;
  /** CloudEvents `source` of what is published here. */
  readonly eventSource: string;
  /** How long a caller waits for Kafka's acknowledgement before it is told 503, in milliseconds. */
  readonly publishTimeoutMs: number;
  /** Bytes that may wait for Kafka at once; beyond that callers are told 503. */
  readonly maxPendingBytes: number;
}

export const readIngestConfig = (settings: SettingsReader): IngestConfig => ({
  api: readApiSettings(settings, 8082),
  kafka: readKafkaSettings(settings, 'ingest'),
  eventSource: settings.text('EVENT_SOURCE', '/webhooks/ingest'),
  publishTimeoutMs: settings.integer('PUBLISH_TIMEOUT_MS', 5_000, { min: 100, max: 60_000 }),
  maxPendingBytes: settings.integer('MAX_PENDING_BYTES', 64 * 1_048_576, { min: 1_048_576 }),
});
