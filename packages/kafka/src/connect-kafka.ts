import { errorFields, type ServiceScope, type SettingsReader } from '@webhooks/runtime';
import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import { type Logger, BROKER, type KafkaOptions } from './kafkajs/link.js';
import { ensureTopics, type TopicSpec } from './kafkajs/topics.js';
import { asError } from './faults.js';
import { hostname } from 'node:os';
import { LASTING_FAULT_MS } from './limits.js';

/** How a service reaches Kafka, and what it may do to topics. */
export interface KafkaSettings extends Omit<KafkaOptions, 'log'> {
  /** Create the topics that are missing (default true); in production a job does it. */
  readonly createTopics: boolean;
  /** Replication of topics that are created; absent: the broker's default. */
  readonly replicationFactor?: number | undefined;
}

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

function readTls(settings: SettingsReader): KafkaOptions['tls'] {
  if (!settings.flag('KAFKA_TLS', false)) return undefined;
  const cert = settings.optionalFile('KAFKA_TLS_CERT_FILE');
  const key = settings.optionalFile('KAFKA_TLS_KEY_FILE');
  settings.refuseWhen(
    (cert === undefined) !== (key === undefined),
    'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE go together',
  );
  return { ca: settings.optionalFile('KAFKA_TLS_CA_FILE'), cert, key };
}

function readSasl(settings: SettingsReader): KafkaOptions['sasl'] {
  const name = settings.optionalText('KAFKA_SASL_MECHANISM');
  const mechanism = MECHANISMS.find((known) => known === name);
  settings.refuseWhen(mechanism !== name, `KAFKA_SASL_MECHANISM must be one of ${MECHANISMS.join(', ')}`);
  if (mechanism === undefined) return undefined;
  const [username, password] = [settings.text('KAFKA_SASL_USERNAME'), settings.text('KAFKA_SASL_PASSWORD')];
  return { mechanism, username, password };
}

/** The default client id is the same when a process of the service starts again on this host, or in this pod. */
export function readKafkaSettings(settings: SettingsReader, service: string): KafkaSettings {
  const brokers = settings.list('KAFKA_BROKERS');
  settings.refuseWhen(
    !brokers.every((broker) => BROKER.test(broker)),
    'KAFKA_BROKERS must be host:port or [address]:port, separated by commas',
  );
  return {
    brokers,
    clientId: settings.text('KAFKA_CLIENT_ID', `${service}@${hostname()}`),
    createTopics: settings.flag('TOPICS_CREATE', true),
    replicationFactor: settings.integer('TOPICS_REPLICATION_FACTOR', 0, { max: 7 }) || undefined,
    tls: readTls(settings),
    sasl: readSasl(settings),
  };
}

/**
 * A service's cluster: its faults go to the service's log, and it is closed with the service. Groups whose records have another
 * `format` are refused.
 */
export function connectKafka(settings: KafkaSettings, scope: ServiceScope, format: string): Kafka {
  const log: Logger = (level, message, fields) => scope.log[level](message, fields);
  const kafka = createKafka({ ...settings, format, log });
  scope.onClose('kafka', () => kafka.close());
  return kafka;
}

/** With this many replicas or more, one may be down while an acknowledged record still has two. */
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
  }, LASTING_FAULT_MS);
  const onFault = (error: unknown): void => void (fault = asError(error));
  try {
    await ensureTopics(kafka, replicated(specs, settings), { deadlineMs, onFault });
    fault = undefined;
  } finally {
    clearTimeout(lasting);
  }
}
