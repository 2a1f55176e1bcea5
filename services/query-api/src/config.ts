import { readApiSettings } from '@webhooks/http-api';
import type { ApiDefaults, ApiSettings } from '@webhooks/http-api';
import { readKafkaSettings } from '@webhooks/kafka';
import type { KafkaSettings } from '@webhooks/kafka';
import { readMongodbSettings } from '@webhooks/mongodb';
import type { MongodbSettings } from '@webhooks/mongodb';
import type { SettingsReader } from '@webhooks/runtime';

export interface QueryApiConfig {
  readonly api: ApiSettings;
  readonly kafka: KafkaSettings;
  readonly mongodb: MongodbSettings;
  /** Consumer groups are called `<prefix>.<projection>.<generation>`. */
  readonly groupPrefix: string;
  /** Deliveries a second that one instance sends again in jobs. */
  readonly redeliveriesPerSecond: number;
}

/** The database of this service when the connection string names none. */
export const DATABASE = 'webhook_query';

/** A tenant may ask after each notification of a busy day, and a question may wait 2 s for the projection. */
const API_DEFAULTS: ApiDefaults = { port: 8083, maxOpenRequests: 1_024, tenantRequestsPerSecond: 1_000 };

export function readQueryApiConfig(settings: SettingsReader): QueryApiConfig {
  return {
    api: readApiSettings(settings, API_DEFAULTS),
    kafka: readKafkaSettings(settings, 'query-api'),
    mongodb: readMongodbSettings(settings, DATABASE),
    groupPrefix: settings.text('GROUP_PREFIX', 'query-api'),
    redeliveriesPerSecond: settings.integer('REDELIVERIES_PER_SECOND', 200, { min: 1, max: 10_000 }),
  };
}
