import { MAX_EVENT_BYTES, TOPIC_TABLE } from '@webhooks/contracts';
import { serveApi } from '@webhooks/http-api';
import { connectKafka, openSink, prepareTopics } from '@webhooks/kafka';
import { Counter } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { IngestConfig } from './config.js';
import { postEvents } from './post-events.js';
import { createPublishEvent } from './publish-event.js';

export async function composeIngest(config: IngestConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope);
  await prepareTopics(kafka, config.kafka, TOPIC_TABLE);
  const sink = await openSink({ kafka, maxPendingBytes: config.maxPendingBytes });
  scope.onClose('event sink', () => sink.close());
  scope.health.readiness('kafka', () => sink.health().lastError);
  const published = new Counter({
    name: 'ingest_events_published_total',
    help: 'Events given to Kafka, by whether Kafka acknowledged them in time',
    labelNames: ['result'],
    registers: [scope.registry],
  });
  const publish = createPublishEvent({
    sink,
    source: config.eventSource,
    timeoutMs: config.publishTimeoutMs,
    log: scope.log,
    published,
  });
  await serveApi(
    config.api,
    [
      {
        method: 'POST',
        path: '/integration/v1/events',
        scopes: ['event.write', 'event.write.any'],
        maxBodyBytes: MAX_EVENT_BYTES,
        handle: (request) => postEvents(request, publish),
      },
    ],
    scope,
  );
}
