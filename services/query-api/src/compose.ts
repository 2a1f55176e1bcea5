import { TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import type { Operation } from '@webhooks/http-api';
import { serveApi } from '@webhooks/http-api';
import { connectKafka, fetchEndOffsets, openSink, prepareTopics } from '@webhooks/kafka';
import type { Kafka } from '@webhooks/kafka';
import { Counter } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { QueryApiConfig } from './config.js';
import { openConfigurations } from './configurations/open-configurations.js';
import type { Configurations } from './configurations/open-configurations.js';
import { BATCH_MS, REQUEST_MS, openDatabase } from './database.js';
import type { Database } from './database.js';
import { composeDeliveryLog } from './delivery-log/compose-delivery-log.js';
import type { Unreadable } from './delivery-log/read-records.js';
import { composeHealth } from './endpoint-health/compose-health.js';
import { CatchUp } from './projection/catch-up.js';
import type { CatchUpResult } from './projection/catch-up.js';
import { keepProjections } from './projection/keep-projections.js';
import type { KeptProjections } from './projection/keep-projections.js';
import { passOverRefused } from './projection/pass-over-refused.js';
import { createTellFaults } from './projection/tell-faults.js';
import { composeRedelivery } from './redelivery/compose-redelivery.js';
import { createPublishTasks } from './redelivery/publish-tasks.js';
import type { PublishTasks } from './redelivery/publish-tasks.js';
import { testOperations } from './test-notification/test-operations.js';
import { composeTransactions } from './payments/compose.js';
import { keepDeadLetter } from './payments/event-store.js';

const PUBLISH_MS = 3_000;
const EVENTS = { name: 'events', topic: TOPICS.events };
const ATTEMPTS = { name: 'attempts', topic: TOPICS.attempts };

async function openPublisher(kafka: Kafka, scope: ServiceScope): Promise<PublishTasks> {
  const sink = await openSink({ kafka });
  scope.onClose('task sink', () => sink.close());
  return createPublishTasks(sink, PUBLISH_MS);
}

/** Tells of records that cannot be read, or written: once for each in the log, and by their reason in a counter. */
function createUnreadable({ log, registry }: ServiceScope): Unreadable {
  const records = new Counter({
    name: 'query_unreadable_records_total',
    help: 'Records that could not be read, whole or in part, or written, by the reason',
    labelNames: ['reason'],
    registers: [registry],
  });
  return ({ topic, partition, offset }, reason) => {
    records.inc({ reason });
    log.warn('a record cannot be read or written', { topic, partition, offset, reason });
  };
}

/** Waits for a topic to be projected; made anew whenever a new generation begins. */
function catchUpOf(
  { name, topic }: { readonly name: string; readonly topic: string },
  kafka: Kafka,
  projections: () => KeptProjections,
  scope: ServiceScope,
): () => CatchUp | undefined {
  const onFault = createTellFaults(scope.log, () => performance.now());
  let made: { readonly running: unknown; readonly catchUp: CatchUp } | undefined;
  return () => {
    const running = projections().running(name);
    if (!running) return undefined;
    if (made?.running !== running) {
      const catchUp = new CatchUp({
        positions: running.positions(topic),
        fetchEnds: (deadlineMs) => fetchEndOffsets(kafka, topic, { deadlineMs }),
        onFault,
      });
      made = { running, catchUp };
    }
    return made.catchUp;
  };
}

/** Waits for each; what does not run is late: nothing is then known to be absent. */
async function waitForAll(...all: readonly (CatchUp | undefined)[]): Promise<CatchUpResult> {
  const results = await Promise.all(all.map(async (one) => (await one?.wait()) ?? 'late'));
  return results.find((result) => result !== 'passed') ?? 'passed';
}

interface Parts {
  readonly kafka: Kafka;
  readonly database: Database;
  readonly configurations: Configurations;
  readonly publish: PublishTasks;
}

/** Starts the projections and gives every operation; `openapi.yaml` describes the same set. */
function composeOperations(config: QueryApiConfig, parts: Parts, scope: ServiceScope): readonly Operation[] {
  const { kafka, database, configurations, publish } = parts;
  const { redeliveriesPerSecond: ratePerSecond, groupPrefix, retention } = config;
  const unreadable = createUnreadable(scope);
  const catchUpEvents = catchUpOf(EVENTS, kafka, () => kept, scope);
  const catchUpAttempts = catchUpOf(ATTEMPTS, kafka, () => kept, scope);
  const deliveryLog = composeDeliveryLog({
    database,
    keepNotification: (notification) => keepDeadLetter(database.within(BATCH_MS), notification),
    unreadable,
    catchUp: (withEvents) => waitForAll(catchUpAttempts(), ...(withEvents ? [catchUpEvents()] : [])),
  });
  const transactions = composeTransactions({ database, catchUp: catchUpEvents });
  const health = composeHealth({
    database,
    configurations,
    findOldestPending: async (tenantId, ref) => {
      const filter = { ref, status: 'pending' } as const;
      const wish = { order: 'oldest-first', limit: 1 } as const;
      return (await deliveryLog.storeWithin(REQUEST_MS).page(tenantId, filter, wish)).rows[0];
    },
    now: () => Date.now(),
  });
  const projections = [transactions.projection, deliveryLog.projection, health.projection].map((projection) =>
    passOverRefused(projection, unreadable),
  );
  const models = () => database.models();
  const kept = keepProjections({ kafka, groupPrefix, projections, models }, scope);
  const { storeWithin: deliveriesWithin, find: findDelivery } = deliveryLog;
  return [
    ...transactions.operations,
    ...deliveryLog.operations,
    ...health.operations,
    ...composeRedelivery(
      { database, deliveriesWithin, findDelivery, configurations, publish, ratePerSecond, retention },
      scope,
    ),
    ...testOperations({ database, configurations, publish, newId: uuidv7, now: () => new Date() }),
  ];
}

export async function composeQueryApi(config: QueryApiConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope);
  await prepareTopics(kafka, config.kafka, TOPIC_TABLE, { scope });
  const database = await openDatabase(config.mongodb, config.retention, scope);
  const configurations = openConfigurations(kafka, scope);
  const publish = await openPublisher(kafka, scope);
  const operations = composeOperations(config, { kafka, database, configurations, publish }, scope);
  await serveApi(config.api, operations, scope);
}
