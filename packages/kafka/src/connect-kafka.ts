import { errorFields, type ServiceScope } from '@webhooks/runtime';
import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import type { Logger } from './log.js';
import type { KafkaSettings } from './kafka-settings.js';
import { ensureTopics, type TopicSpec } from './kafkajs/topics.js';
import { asError } from './wire/as-error.js';

/** A service's cluster: its faults go to the service's log, and it is closed with the service. */
export function connectKafka(settings: KafkaSettings, scope: ServiceScope): Kafka {
  const log: Logger = (level, message, fields) => scope.log[level](message, fields);
  const kafka = createKafka({ ...settings, log });
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

/** A fault that lasts so long is a wrong setting or an outage, and no election of a first start. */
const LASTING_MS = 4_000;

/**
 * Creates the topics that are missing, unless `TOPICS_CREATE=false`; rejects when that takes longer than `deadlineMs`. Until it is
 * done the readiness of `scope` names the latest fault, and one line of its log does when it lasts.
 */
export async function prepareTopics(
  kafka: Kafka,
  settings: KafkaSettings,
  specs: readonly TopicSpec[],
  { scope, deadlineMs = 60_000 }: { readonly scope?: ServiceScope; readonly deadlineMs?: number },
): Promise<void> {
  if (!settings.createTopics) return;
  let fault: Error | undefined = new Error('no response yet');
  scope?.health.readiness('kafka topics', () => fault?.message);
  const lasting = setTimeout(() => {
    scope?.log.error('Kafka cannot be used; check its address, TLS and SASL settings', {
      ...{ brokers: settings.brokers },
      ...errorFields(fault),
    });
  }, LASTING_MS);
  const onFault = (error: unknown): void => void (fault = asError(error));
  try {
    await ensureTopics(kafka, replicated(specs, settings), { deadlineMs, onFault });
    fault = undefined;
  } finally {
    clearTimeout(lasting);
  }
}
