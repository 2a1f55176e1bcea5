import { MAX_EVENT_BYTES, RECORD_FORMAT, TOPIC_ACCESS, TOPIC_TABLE } from '@webhooks/contracts';
import { checkIssuer, createTenantLimiter, serveApi, SharedBudget } from '@webhooks/http-api';
import { checkKafka, connectKafka, openSink, prepareTopics } from '@webhooks/kafka';
import type { Checks, ServiceScope } from '@webhooks/runtime';
import { ANY_TENANT, createPublishEvent } from './accept-event.js';
import type { IngestConfig } from './config.js';
import { notDurable, postEvents, tooManyPending } from './post-events.js';

const KAFKA_NEEDS = { topics: TOPIC_TABLE, access: { topics: TOPIC_ACCESS.ingest, groups: [] } };

/** What `check` looks at. */
export const checks = (config: IngestConfig): Checks => ({
  kafka: checkKafka(config.kafka, KAFKA_NEEDS),
  'token issuer': checkIssuer(config.api),
});

export async function composeIngest(config: IngestConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope, RECORD_FORMAT);
  await prepareTopics(kafka, config.kafka, KAFKA_NEEDS, scope);
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
  const ports = { publish, tenantEvents, pending, tracing: scope.tracing };
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
        handle: (request) => postEvents(request, ports),
      },
    ],
    scope,
  );
}
