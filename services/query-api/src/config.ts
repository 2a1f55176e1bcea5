import { readApiSettings } from '@webhooks/http-api';
import type { ApiSettings } from '@webhooks/http-api';
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

export function readQueryApiConfig(settings: SettingsReader): QueryApiConfig {
  return {
    api: readApiSettings(settings, 8083),
    kafka: readKafkaSettings(settings, 'query-api'),
    mongodb: readMongodbSettings(settings, DATABASE),
    groupPrefix: settings.text('GROUP_PREFIX', 'query-api'),
    redeliveriesPerSecond: settings.integer('REDELIVERIES_PER_SECOND', 200, { min: 1, max: 10_000 }),
  };
}
