import { TOPIC_TABLE } from '@webhooks/contracts';
import { serveApi } from '@webhooks/http-api';
import { connectKafka, prepareTopics } from '@webhooks/kafka';
import type { ServiceScope } from '@webhooks/runtime';
import type { QueryApiConfig } from './config.js';
import { openDatabase } from './database.js';
import { keepProjections } from './projection/keep-projections.js';

export async function composeQueryApi(config: QueryApiConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope);
  await prepareTopics(kafka, config.kafka, TOPIC_TABLE);
  const database = await openDatabase(config.mongodb, scope);
  keepProjections(
    { kafka, groupPrefix: config.groupPrefix, projections: [], models: () => database.models() },
    scope,
  );
  await serveApi(config.api, [], scope);
}
