import { hostname } from 'node:os';
import type { SettingsReader } from '@webhooks/runtime';
import type { KafkaOptions, KafkaSasl, KafkaTls } from './kafka-options.js';

/** How a service reaches Kafka, and what it may do to topics. */
export interface KafkaSettings extends Pick<KafkaOptions, 'brokers' | 'clientId'> {
  readonly tls?: KafkaTls | boolean;
  readonly sasl?: KafkaSasl;
  /** Create the topics that are missing (default true); in production a job does it. */
  readonly createTopics: boolean;
  /** Replication of topics that are created; absent: the broker's default. */
  readonly replicationFactor?: number;
}

const MECHANISMS: readonly string[] = ['plain', 'scram-sha-256', 'scram-sha-512'];
const isMechanism = (text: string): text is KafkaSasl['mechanism'] => MECHANISMS.includes(text);

function readTls(settings: SettingsReader): Pick<KafkaSettings, 'tls'> {
  if (!settings.flag('KAFKA_TLS', false)) return {};
  const [ca, cert, key] = ['KAFKA_TLS_CA_FILE', 'KAFKA_TLS_CERT_FILE', 'KAFKA_TLS_KEY_FILE'].map((name) =>
    settings.optionalFile(name),
  );
  settings.refuseWhen(
    (cert === undefined) !== (key === undefined),
    'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE go together',
  );
  return {
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  };
}

function readSasl(settings: SettingsReader): Pick<KafkaSettings, 'sasl'> {
  const mechanism = settings.optionalText('KAFKA_SASL_MECHANISM');
  if (mechanism === undefined) return {};
  if (!isMechanism(mechanism)) {
    settings.refuseWhen(true, `KAFKA_SASL_MECHANISM must be one of ${MECHANISMS.join(', ')}`);
    return {};
  }
  return {
    sasl: {
      mechanism,
      username: settings.text('KAFKA_SASL_USERNAME'),
      password: settings.text('KAFKA_SASL_PASSWORD'),
    },
  };
}

/** The default client id is the same when a process of the service starts again on this host, or in this pod. */
export function readKafkaSettings(settings: SettingsReader, service: string): KafkaSettings {
  const replicationFactor = settings.integer('TOPICS_REPLICATION_FACTOR', 0, { min: 0, max: 7 });
  return {
    brokers: settings.list('KAFKA_BROKERS'),
    clientId: settings.text('KAFKA_CLIENT_ID', `${service}@${hostname()}`),
    createTopics: settings.flag('TOPICS_CREATE', true),
    ...(replicationFactor === 0 ? {} : { replicationFactor }),
    ...readTls(settings),
    ...readSasl(settings),
  };
}
