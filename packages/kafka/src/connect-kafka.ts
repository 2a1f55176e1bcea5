import type { ServiceScope } from '@webhooks/runtime';
import { createKafka } from './create-kafka.js';
import type { Kafka } from './create-kafka.js';
import type { KafkaSettings } from './kafka-settings.js';
import { ensureTopics } from './topics.js';
import type { TopicSpec } from './topics.js';

/** A service's cluster: its faults go to the service's log, and it is closed with the service. */
export function connectKafka(settings: KafkaSettings, scope: ServiceScope): Kafka {
  const { brokers, clientId, tls, sasl } = settings;
  const kafka = createKafka({
    brokers,
    clientId,
    ...(tls === undefined ? {} : { tls }),
    ...(sasl === undefined ? {} : { sasl }),
    log: (level, message, fields) => scope.log[level](message, fields),
  });
  scope.onClose('kafka', () => kafka.close());
  return kafka;
}

/** From this many replicas on, one may be away while an acknowledged record still lies on two. */
const REPLICAS_FOR_QUORUM = 3;
const QUORUM = { 'min.insync.replicas': '2' };

/** The topics as they are to be created: with the replication of the settings. */
export function replicated(
  specs: readonly TopicSpec[],
  { replicationFactor }: Pick<KafkaSettings, 'replicationFactor'>,
): readonly TopicSpec[] {
  if (replicationFactor === undefined) return specs;
  const durable = replicationFactor >= REPLICAS_FOR_QUORUM ? QUORUM : {};
  return specs.map((spec) => ({ ...spec, replicationFactor, configs: { ...durable, ...spec.configs } }));
}

/** Creates the topics that are missing, unless `TOPICS_CREATE=false`; rejects when that takes longer than `deadlineMs`. */
export async function prepareTopics(
  kafka: Kafka,
  settings: KafkaSettings,
  specs: readonly TopicSpec[],
  deadlineMs = 60_000,
): Promise<void> {
  if (!settings.createTopics) return;
  await ensureTopics(kafka, replicated(specs, settings), { deadlineMs });
}
