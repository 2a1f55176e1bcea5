import { BURST_SECONDS, readApiSettings } from '@webhooks/http-api';
import type { ApiDefaults, RateLimit } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import type { SettingsReader } from '@webhooks/runtime';
import { MAX_BATCH_EVENTS } from './read-candidates.js';

/** About the load that one instance can serve for all tenants together. */
const API_DEFAULTS: ApiDefaults = { port: 8082, maxOpenRequests: 1_024, tenantRequestsPerSecond: 2_000 };
const TENANT_EVENTS_PER_SECOND = 5_000;

function readTenantEvents(settings: SettingsReader): RateLimit {
  const perSecond = settings.integer('TENANT_EVENTS_PER_SECOND', TENANT_EVENTS_PER_SECOND, {
    max: 1_000_000,
  });
  const burst = settings.integer(
    'TENANT_EVENTS_BURST',
    Math.max(MAX_BATCH_EVENTS, BURST_SECONDS * perSecond),
    // With a smaller burst, a full batch would be refused for ever.
    { min: MAX_BATCH_EVENTS },
  );
  return { perSecond, burst };
}

export const readIngestConfig = (settings: SettingsReader) => ({
  api: readApiSettings(settings, API_DEFAULTS),
  kafka: readKafkaSettings(settings, 'ingest'),
  /** Rate limit for the events of one tenant. The burst admits at least one full batch. */
  tenantEvents: readTenantEvents(settings),
  /** CloudEvents `source` of published events. */
  eventSource: settings.text('EVENT_SOURCE', '/webhooks/ingest'),
  /** How long a caller waits for Kafka's acknowledgement before a 503, milliseconds; default 5,000. */
  publishTimeoutMs: settings.integer('PUBLISH_TIMEOUT_MS', 5_000, { min: 100, max: 60_000 }),
  /**
   * Bytes of events that may wait for Kafka at once; default 64 MiB, minimum 16 MiB. Beyond it the response is 503.
   * The default is enough for about 19,000 events of usual size with their overhead. A full batch fits into half of
   * the minimum, which is the share of one tenant.
   */
  maxPendingBytes: settings.integer('MAX_PENDING_BYTES', 64 * 1_048_576, { min: 16 * 1_048_576 }),
});

export type IngestConfig = ReturnType<typeof readIngestConfig>;
