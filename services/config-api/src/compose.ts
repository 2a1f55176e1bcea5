import { RECORD_FORMAT, TOPIC_ACCESS, TOPIC_TABLE } from '@webhooks/contracts';
import { checkIssuer, databaseUnavailable, serveApi } from '@webhooks/http-api';
import { checkKafka, connectKafka, openSink, prepareTopics } from '@webhooks/kafka';
import type { Kafka, KafkaNeeds } from '@webhooks/kafka';
import { checkMongo, REQUEST_MS } from '@webhooks/mongodb';
import { checkEgress } from '@webhooks/outbound';
import { addCounter, addGauge, repeatUntilClose } from '@webhooks/runtime';
import type { Checks, ServiceScope } from '@webhooks/runtime';
import type { ConfigApiConfig } from './config.js';
import { createDeliveryPolicies } from './policies/delivery-policies.js';
import { createPolicyReader } from './policies/policy-input.js';
import { createPublisher, sweepUnpublished } from './publication/publish-configuration.js';
import type { Publisher } from './publication/publish-configuration.js';
import { watchTopic } from './publication/watch-topic.js';
import { storeWithin } from './store/configuration-store.js';
import { openDatabase } from './store/database.js';
import type { Database } from './store/database.js';
import { createDescribeChange } from './webhooks/describe-change.js';
import { createKeyedMutex } from './webhooks/make-change.js';
import { createOperations } from './webhooks/operations.js';
import { openProver } from './webhooks/prove-endpoint.js';
import { readAlertInput, readWebhookInput } from './webhooks/webhook-input.js';

/** Pause between two sweeps. */
const SWEEP_EVERY_MS = 1_000;
/** Deadline of the database statements of one sweep, and of a note that Kafka has a revision. */
const SWEEP_MS = 10_000;
/** Deadline of the database statements of one comparison of topic and database. */
const COMPARE_MS = 120_000;
const now = (): Date => new Date();

const KAFKA_NEEDS: KafkaNeeds = {
  topics: TOPIC_TABLE,
  access: { topics: TOPIC_ACCESS['config-api'], groups: [] },
  // Webhooks are registered meanwhile, and published later.
  worksWithoutBrokers: true,
};

/** What `check` looks at. */
export const checks = (config: ConfigApiConfig): Checks => ({
  kafka: checkKafka(config.kafka, KAFKA_NEEDS),
  'token issuer': checkIssuer(config.api),
  mongodb: checkMongo(config.mongodb),
  'egress proxy': checkEgress(config.sending.egressProxy),
});

async function openPublisher(kafka: Kafka, database: Database, scope: ServiceScope): Promise<Publisher> {
  const sink = await openSink({ kafka });
  scope.onClose('configuration sink', () => sink.close());
  const help = 'Configurations sent to Kafka, by whether Kafka acknowledged them in time';
  const published = addCounter(scope.registry, 'config_api_publications_total', help, 'result');
  return createPublisher({
    sink,
    markPublished: (configuration) => storeWithin(database, SWEEP_MS).markPublished(configuration),
    log: scope.log,
    published,
  });
}

function startSweep(database: Database, { publish }: Publisher, scope: ServiceScope): void {
  let left = 0;
  const help = 'Changes of webhooks that Kafka has not acknowledged, at most 500';
  addGauge(scope.registry, 'config_api_unpublished_changes', help, () => left);
  const work = async (): Promise<void> => {
    const { unpublished, confirm } = storeWithin(database, SWEEP_MS);
    const { published: count, waiting } = await sweepUnpublished({ unpublished, confirm, publish, now });
    left = waiting;
    if (count > 0) scope.log.info('changes were published that Kafka had not acknowledged', { count });
  };
  repeatUntilClose({ name: 'publishing unacknowledged changes', everyMs: SWEEP_EVERY_MS, work }, scope);
}

export async function composeConfigApi(config: ConfigApiConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope, RECORD_FORMAT);
  scope.log.info('keys of secrets', { keys: config.keyring.keys.map(({ id }) => id) });
  prepareTopics(kafka, config.kafka, KAFKA_NEEDS, scope).catch(scope.fail);
  const database = await openDatabase(config.mongodb, scope);
  const publisher = await openPublisher(kafka, database, scope);
  startSweep(database, publisher, scope);
  watchTopic({
    kafka,
    scope,
    ports: () => ({ ...storeWithin(database, COMPARE_MS), republish: publisher.republish, now }),
    markComplete: publisher.markComplete,
  });
  const operations = createOperations({
    readInput: (request) => readWebhookInput(request, config.urlPolicy),
    readAlertInput: (request) => readAlertInput(request, config.urlPolicy),
    storeFor: () => storeWithin(database, REQUEST_MS),
    prove: openProver(config, scope),
    runExclusive: createKeyedMutex(REQUEST_MS, databaseUnavailable),
    publish: publisher.publish,
    log: scope.log,
    describe: createDescribeChange(config.keyring),
    keyring: config.keyring,
    readPolicy: createPolicyReader(config.policyRules),
    policies: createDeliveryPolicies(config.keyring),
    now,
    maxWebhooks: config.maxWebhooksPerTenant,
    egress: config.egress,
  });
  await serveApi(config.api, operations, scope);
}
