import { RECORD_FORMAT, TOPIC_ACCESS, TOPIC_TABLE, TOPICS } from '@webhooks/contracts';
import { checkIssuer, createConcurrencyLimiter, serveApi } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { checkKafka, connectKafka, openSink, prepareTopics } from '@webhooks/kafka';
import type { Kafka, KafkaNeeds } from '@webhooks/kafka';
import { checkMongo } from '@webhooks/mongodb';
import { addCounter } from '@webhooks/runtime';
import type { Checks, ServiceScope } from '@webhooks/runtime';
import type { QueryApiConfig } from './config.js';
import { openConfigurations } from './configurations.js';
import type { Configurations } from './configurations.js';
import { openDatabase } from './database.js';
import type { Database } from './database.js';
import { composeDeliveryLog } from './delivery-log/compose.js';
import { composeHealth, HEALTH } from './endpoint-health/compose.js';
import { reviewEpisodes } from './episodes/review-episodes.js';
import { overviewOperations } from './overview/overview.js';
import { composePayments } from './payments/compose.js';
import type { CatchUp, CatchUpResult } from './projection/catch-up.js';
import { runProjections } from './projection/run-projections.js';
import type { RunPositionQuery } from './projection/positions.js';
import { skipRefused } from './projection/projection.js';
import type { OnSkipped } from './projection/projection.js';
import { composeRedelivery } from './redelivery/compose.js';
import { createPublishTasks } from './redelivery/redelivery-task.js';
import type { PublishTasks } from './redelivery/redelivery-task.js';
import { statementOperations } from './statements/statement.js';

const PUBLISH_MS = 3_000;
/**
 * Lists and counts that one instance runs at once; one tenant gets half. The embedded database runs them one by one,
 * up to a second each. The last one must end within the 4 s of a request.
 */
const MAX_LISTS = 8;

async function openPublisher(kafka: Kafka, scope: ServiceScope): Promise<PublishTasks> {
  const sink = await openSink({ kafka });
  scope.onClose('task sink', () => sink.close());
  return createPublishTasks(sink, PUBLISH_MS);
}

/** Returns a function that reports a skipped record: one log line for each, and a counter by reason. */
function createSkipReport({ log, registry }: ServiceScope): OnSkipped {
  const help = 'Records that could not be read, whole or in part, or written, by the reason';
  const records = addCounter(registry, 'query_unreadable_records_total', help, 'reason');
  return ({ topic, partition, offset }, reason) => {
    records.inc({ reason });
    log.warn('a record cannot be read or written', { topic, partition, offset, reason });
  };
}

/**
 * Waits for the projections of all topics. Returns `passed`, or the first other result. A topic without a running
 * projection is `late`, because a miss proves nothing there.
 */
async function waitForAll(all: readonly (CatchUp | undefined)[]): Promise<CatchUpResult> {
  const results = await Promise.all(all.map(async (one) => (await one?.wait()) ?? 'late'));
  return results.find((result) => result !== 'passed') ?? 'passed';
}

interface Parts {
  readonly kafka: Kafka;
  readonly database: Database;
  readonly configurations: Configurations;
  readonly publish: PublishTasks;
}

/** Starts the projections and returns every operation; `openapi.yaml` describes the same set. */
function composeOperations(config: QueryApiConfig, parts: Parts, scope: ServiceScope): readonly Operation[] {
  const { kafka, database, configurations, publish } = parts;
  const { redeliveriesPerSecond: ratePerSecond, groupPrefix, retention, failingAfterMs } = config;
  const onSkipped = createSkipReport(scope);
  const catchUp = (...topics: readonly string[]): Promise<CatchUpResult> =>
    waitForAll(topics.map((topic) => catchUps.get(topic)));
  const catchUpAll = () => catchUp(TOPICS.events, TOPICS.attempts, TOPICS.deadLetters);
  const lists = createConcurrencyLimiter({ total: MAX_LISTS });
  const deliveryLog = composeDeliveryLog({
    ...{ database, lists, configurations },
    onSkipped,
    startSpan: scope.tracing.startSpan,
    catchUp: (withEvents) => catchUp(TOPICS.attempts, ...(withEvents ? [TOPICS.events] : [])),
  });
  const transactions = composePayments({
    ...{ database, lists },
    catchUp: () => catchUps.get(TOPICS.events),
    retentionMs: retention.notificationMs,
    // Half of the open requests may wait for notifications. The other half is reserved for all other operations.
    waiting: { total: Math.ceil(config.api.maxOpenRequests / 2), perTenant: config.maxWaitingPerTenant },
  });
  const health = composeHealth({ database, configurations, failingAfterMs, onSkipped });
  const composed = [transactions, deliveryLog, health];
  const projections = composed.map(({ projection }) => skipRefused(projection, onSkipped));
  const runQuery: RunPositionQuery = (statement) => database.writing()(statement);
  const catchUps = runProjections({ kafka, groupPrefix, projections, runQuery }, scope);
  // Alerts count deliveries in the log, too.
  const review = () => catchUp(HEALTH, TOPICS.attempts);
  reviewEpisodes({ database, configurations, publish, failingAfterMs, catchUp: review }, scope);
  return [
    ...transactions.operations,
    ...deliveryLog.operations,
    ...health.operations,
    ...composeRedelivery(
      {
        ...{ database, lists, configurations, publish, ratePerSecond },
        ...{ retentionMs: retention.notificationMs, logRetentionMs: retention.logMs },
        findDelivery: deliveryLog.find,
        catchUp: catchUpAll,
      },
      scope,
    ),
    ...statementOperations({ database, configurations, retentionMs: retention.logMs, catchUp: catchUpAll }),
    ...overviewOperations({ database, configurations, lists }),
  ];
}

/** The names of its groups end with a generation, so access rules have to allow all that begin with the prefix. */
const needsOf = ({ groupPrefix }: QueryApiConfig): KafkaNeeds => ({
  topics: TOPIC_TABLE,
  access: { topics: TOPIC_ACCESS['query-api'], groups: [`${groupPrefix}.any`] },
});

/** What `check` looks at. */
export const checks = (config: QueryApiConfig): Checks => ({
  kafka: checkKafka(config.kafka, needsOf(config)),
  'token issuer': checkIssuer(config.api),
  mongodb: checkMongo(config.mongodb),
});

export async function composeQueryApi(config: QueryApiConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope, RECORD_FORMAT);
  await prepareTopics(kafka, config.kafka, needsOf(config), scope);
  const database = await openDatabase(config.mongodb, config.retention, scope);
  const configurations = openConfigurations(kafka, scope);
  const publish = await openPublisher(kafka, scope);
  const operations = composeOperations(config, { kafka, database, configurations, publish }, scope);
  await serveApi(config.api, operations, scope);
}
