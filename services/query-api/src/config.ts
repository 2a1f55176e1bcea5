import { parseDuration, parseLongDuration } from '@webhooks/contracts';
import { readApiSettings } from '@webhooks/http-api';
import type { ApiDefaults } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import { readMongodbSettings } from '@webhooks/mongodb';
import type { SettingsReader } from '@webhooks/runtime';
import type { Retention } from './documents.js';

/** Name of the database when the connection string has none. */
export const DATABASE = 'webhook_query';

/** A tenant may query after each notification of a busy day. A query may wait 2 s for the projection. */
const API_DEFAULTS: ApiDefaults = { port: 8083, maxOpenRequests: 1_024, tenantRequestsPerSecond: 1_000 };

/** Reads how long documents are stored. */
export function readRetention(settings: SettingsReader): Retention {
  const logMs = settings.parsed('LOG_RETENTION', '30d', parseLongDuration) ?? 0;
  const notificationMs = settings.parsed('NOTIFICATION_RETENTION', '30d', parseLongDuration) ?? 0;
  const transactionMs = settings.parsed('TRANSACTION_RETENTION', '', parseLongDuration);
  settings.refuseWhen(
    transactionMs !== undefined && transactionMs < notificationMs,
    'TRANSACTION_RETENTION must not be shorter than NOTIFICATION_RETENTION: both apply to the same document',
  );
  return { logMs, notificationMs, transactionMs };
}

export const readQueryApiConfig = (settings: SettingsReader) => ({
  api: readApiSettings(settings, API_DEFAULTS),
  kafka: readKafkaSettings(settings, 'query-api'),
  mongodb: readMongodbSettings(settings, DATABASE),
  /** Consumer groups are called `<prefix>.<projection>.<generation>`. */
  groupPrefix: settings.text('GROUP_PREFIX', 'query-api'),
  /** Deliveries that one instance sends again in jobs, per second. */
  redeliveriesPerSecond: settings.integer('REDELIVERIES_PER_SECOND', 200, { min: 1, max: 10_000 }),
  /** Requests of one tenant that may wait for notifications in one instance. */
  maxWaitingPerTenant: settings.integer('MAX_WAITING_PER_TENANT', 10, { min: 1 }),
  /** An endpoint counts as failing this long after its first failure, in milliseconds. */
  failingAfterMs: settings.parsed('ENDPOINT_FAILING_AFTER', '5m', parseDuration) ?? 0,
  retention: readRetention(settings),
});

export type QueryApiConfig = ReturnType<typeof readQueryApiConfig>;
