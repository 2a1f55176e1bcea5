import { MAX_EVENT_BYTES, RECORD_FORMAT, TOPIC_TABLE, TOPICS } from '@webhooks/contracts';
import { createTenantLimiter, serveApi, SharedBudget } from '@webhooks/http-api';
import { connectKafka, fetchEndOffsets, openSink, prepareTopics } from '@webhooks/kafka';
import type { Kafka } from '@webhooks/kafka';
import { repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { ANY_TENANT, createPublishEvent } from './accept-event.js';
import type { IngestConfig } from './config.js';
import { notDurable, postEvents, tooManyPending } from './post-events.js';

/**
 * Reports not ready until the topic was found once. With `TOPICS_CREATE=false` it is created elsewhere, maybe later.
 */
function waitForTopic(kafka: Kafka, everyMs: number, { health, log, onClose }: ServiceScope): void {
  let fault: string | undefined = `${TOPICS.events} was not found yet`;
  health.readiness('topic', () => fault);
  const work = async (): Promise<void> => {
    if (fault !== undefined) await fetchEndOffsets(kafka, TOPICS.events);
    fault = undefined;
  };
  const checks = repeat({ name: 'checking for the topic', everyMs, log, work });
  onClose('topic check', () => checks.stop());
}

export async function composeIngest(config: IngestConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope, RECORD_FORMAT);
  await prepareTopics(kafka, config.kafka, TOPIC_TABLE, { scope });
  waitForTopic(kafka, config.publishTimeoutMs, scope);
  const sink = await openSink({ kafka, maxPendingBytes: config.maxPendingBytes });
  scope.onClose('event sink', () => sink.close());
  scope.health.readiness('kafka', () => sink.health().lastError);
  const publish = createPublishEvent(sink, config, scope);
  const tenantEvents = createTenantLimiter({
    limit: config.tenantEvents,
    counted: 'events',
    exemptScope: ANY_TENANT,
  });
  const pending = new SharedBudget({
    total: config.maxPendingBytes,
    exemptScope: ANY_TENANT,
    refuse: (tenantId) => (tenantId === undefined ? notDurable() : tooManyPending(tenantId)),
  });
  await serveApi(
    { ...config.api, exemptScope: ANY_TENANT },
    [
      {
        method: 'POST',
        path: '/integration/v1/events',
        scopes: ['event.write', ANY_TENANT],
        maxBodyBytes: MAX_EVENT_BYTES,
        admit: (identity) => {
          tenantEvents.check(identity);
          // Checked before the body is read and parsed: a tenant that has used up its share is refused at once.
          pending.take(identity, 1);
          pending.release(identity, 1);
          if (sink.health().pendingBytes >= config.maxPendingBytes) throw notDurable();
        },
        handle: (request) => postEvents(request, { publish, tenantEvents, pending }),
      },
    ],
    scope,
  );
}
