import { errorFields, type ServiceScope, type SettingsReader } from '@webhooks/runtime';
import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import { type Logger, BROKER, type KafkaOptions } from './kafkajs/connections.js';
import { ensureTopics, type TopicSpec } from './kafkajs/topics.js';
import { asError } from './faults.js';
import { hostname } from 'node:os';
import { LASTING_FAULT_MS } from './limits.js';

/** The settings of a connection to Kafka, and whether the service creates topics. */
export interface KafkaSettings extends Omit<KafkaOptions, 'log'> {
  /** Whether the service creates missing topics; default true. In production a job creates them. */
  readonly createTopics: boolean;
  /** Replication factor of created topics; default: the broker's. */
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

/**
 * Reads the settings. The default client id stays the same when a process of the service restarts on this host, or
 * in this pod.
 */
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
 * Connects a service to a cluster. kafkajs' lines go to the service's log, and the cluster is closed with the
 * service. Groups whose records have another `format` are refused.
 */
export function connectKafka(settings: KafkaSettings, scope: ServiceScope, format: string): Kafka {
  const log: Logger = (level, message, fields) => scope.log[level](message, fields);
  const kafka = createKafka({ ...settings, format, log });
  scope.onClose('kafka', () => kafka.close());
  return kafka;
}

/** From this many replicas on, an acknowledged record is on two brokers even while one broker is down. */
const REPLICAS_FOR_QUORUM = 3;
const QUORUM = { 'min.insync.replicas': '2' };

/** Returns the topics with the replication factor of the settings. */
export function replicated(
  specs: readonly TopicSpec[],
  { replicationFactor }: Pick<KafkaSettings, 'replicationFactor'>,
): readonly TopicSpec[] {
  if (replicationFactor === undefined) return specs;
  const durable = replicationFactor >= REPLICAS_FOR_QUORUM ? QUORUM : {};
  return specs.map((spec) => ({ ...spec, replicationFactor, configs: { ...durable, ...spec.configs } }));
}

/**
 * Creates missing topics, unless `TOPICS_CREATE=false`. Rejects after `deadlineMs` (default 60,000). Until it is
 * done, the readiness of `scope` names the latest fault. A fault that lasts is also logged once.
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
