import { hostname } from 'node:os';
import type { SettingsReader } from '@webhooks/runtime';
import { BROKER, type KafkaOptions, type KafkaSasl, type KafkaTls } from './kafkajs/link.js';

/** How a service reaches Kafka, and what it may do to topics. */
export interface KafkaSettings extends Omit<KafkaOptions, 'log'> {
  /** Create the topics that are missing (default true); in production a job does it. */
  readonly createTopics: boolean;
  /** Replication of topics that are created; absent: the broker's default. */
  readonly replicationFactor?: number | undefined;
}

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

function readTls(settings: SettingsReader): KafkaTls | undefined {
  if (!settings.flag('KAFKA_TLS', false)) return undefined;
  const cert = settings.optionalFile('KAFKA_TLS_CERT_FILE');
  const key = settings.optionalFile('KAFKA_TLS_KEY_FILE');
  settings.refuseWhen(
    (cert === undefined) !== (key === undefined),
    'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE go together',
  );
  return { ca: settings.optionalFile('KAFKA_TLS_CA_FILE'), cert, key };
}

function readSasl(settings: SettingsReader): KafkaSasl | undefined {
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
