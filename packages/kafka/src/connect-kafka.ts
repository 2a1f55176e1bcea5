import { addCounter, repeatUntilClose, type ServiceScope, type SettingsReader } from '@webhooks/runtime';
import { findAccessFaults, MISSING_TOPICS, type KafkaAccess } from './access.js';
import { explainFault, isUnreachable } from './explain-fault.js';
import { MECHANISMS } from './kafkajs/credentials.js';
import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import { BROKER, type KafkaOptions } from './kafkajs/connections.js';
import type { Logger } from './logger.js';
import { ensureTopics, type TopicSpec } from './kafkajs/topics.js';
import { hostname } from 'node:os';
import { ACCESS_CHECK_MS, LASTING_FAULT_MS } from './limits.js';

/** The settings of a connection to Kafka, and whether the service creates topics. */
export interface KafkaSettings extends Omit<KafkaOptions, 'log' | 'onRequest'> {
  /** Whether the service creates missing topics; default true. In production a job creates them. */
  readonly createTopics: boolean;
  /** Replication factor of created topics; default: the broker's. */
  readonly replicationFactor?: number | undefined;
}

function readTls(settings: SettingsReader): KafkaOptions['tls'] {
  const isUsed = settings.flag('KAFKA_TLS', false);
  const ca = settings.renewableFile('KAFKA_TLS_CA_FILE');
  const cert = settings.renewableFile('KAFKA_TLS_CERT_FILE');
  const key = settings.renewableFile('KAFKA_TLS_KEY_FILE');
  const isHalf = (cert === undefined) !== (key === undefined);
  settings.refuseWhen(isHalf, 'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE go together');
  settings.refuseWhen(!isUsed && (ca ?? cert) !== undefined, 'KAFKA_TLS_…_FILE needs KAFKA_TLS=true');
  return isUsed ? () => ({ ca: ca?.(), cert: cert?.(), key: key?.() }) : undefined;
}

function readSasl(settings: SettingsReader, isEncrypted: boolean): KafkaOptions['sasl'] {
  const name = settings.optionalText('KAFKA_SASL_MECHANISM')?.toLowerCase();
  const mechanism = MECHANISMS.find((known) => known === name);
  settings.refuseWhen(mechanism !== name, `KAFKA_SASL_MECHANISM must be one of ${MECHANISMS.join(', ')}`);
  if (mechanism === undefined) return undefined;
  settings.refuseInProduction(
    mechanism === 'plain' && !isEncrypted,
    'KAFKA_SASL_MECHANISM=plain sends the password as it is: set KAFKA_TLS=true, or use scram-sha-512',
  );
  return {
    mechanism,
    username: settings.text('KAFKA_SASL_USERNAME'),
    password: settings.renewableText('KAFKA_SASL_PASSWORD'),
    ...(mechanism === 'oauthbearer' && {
      tokenEndpoint: settings.url('KAFKA_SASL_TOKEN_ENDPOINT'),
      scope: settings.optionalText('KAFKA_SASL_SCOPE'),
    }),
  };
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
  const tls = readTls(settings);
  return {
    brokers,
    clientId: settings.text('KAFKA_CLIENT_ID', `${service}@${hostname()}`),
    createTopics: settings.flag('TOPICS_CREATE', true),
    replicationFactor: settings.integer('TOPICS_REPLICATION_FACTOR', 0, { max: 7 }) || undefined,
    tls,
    sasl: readSasl(settings, tls !== undefined),
  };
}

/**
 * Connects a service to a cluster. kafkajs' lines go to the service's log, and the cluster is closed with the
 * service. Groups whose records have another `format` are refused.
 */
export function connectKafka(settings: KafkaSettings, scope: ServiceScope, format: string): Kafka {
  const log: Logger = (level, message, fields) => scope.log[level](message, fields);
  const requests = addCounter(scope.registry, 'kafka_requests_total', 'Requests to Kafka', 'request');
  const onRequest = (request: string): void => requests.inc({ request });
  const kafka = createKafka({ ...settings, format, log, onRequest });
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

/** What a service needs from Kafka before it can work. */
export interface KafkaNeeds {
  /** The topics of all services. */
  readonly topics: readonly TopicSpec[];
  readonly access: KafkaAccess;
  /** Whether the service is ready while no broker responds; default false. */
  readonly worksWithoutBrokers?: boolean;
}

/**
 * Creates missing topics, unless `TOPICS_CREATE=false`. Then checks every 2 s that this identity may do what it needs.
 * Resolves when a broker has responded to that. Until then the readiness of `scope` names each fault, and afterwards
 * all but outages. A fault is logged when it begins and when it ends.
 */
export function prepareTopics(
  kafka: Kafka,
  settings: KafkaSettings,
  { topics, access, worksWithoutBrokers = false }: KafkaNeeds,
  scope: Pick<ServiceScope, 'health' | 'log' | 'onClose'>,
): Promise<true> {
  const prepared = Promise.withResolvers<true>();
  let isPrepared = false;
  let fault = worksWithoutBrokers ? undefined : 'no response yet';
  scope.health.readiness('kafka access', () => fault);
  const onFault = (error: unknown): void => {
    fault = worksWithoutBrokers && isUnreachable(error) ? undefined : explainFault(error, settings);
  };
  const work = async (): Promise<void> => {
    try {
      if (!isPrepared && settings.createTopics)
        await ensureTopics(kafka, replicated(topics, settings), { deadlineMs: LASTING_FAULT_MS, onFault });
      fault = (await findAccessFaults(kafka, access)).join('; ') || undefined;
      isPrepared = true;
      prepared.resolve(true);
    } catch (error) {
      // Later outages have probes of their own.
      if (!isPrepared || !isUnreachable(error)) onFault(error);
      throw new Error(explainFault(error, settings), { cause: error });
    }
    if (fault !== undefined) throw new Error(fault);
  };
  repeatUntilClose({ name: 'checking Kafka', everyMs: ACCESS_CHECK_MS, work }, scope);
  return prepared.promise;
}

/** For the argument `check` of a service: connects and reads what this identity may do. */
export async function checkKafka(
  settings: KafkaSettings,
  { access }: Pick<KafkaNeeds, 'access'>,
): Promise<string> {
  const kafka = createKafka(settings);
  try {
    const found = await findAccessFaults(kafka, access);
    // A start creates them.
    const faults = settings.createTopics ? found.filter((text) => !text.startsWith(MISSING_TOPICS)) : found;
    if (faults.length > 0) throw new Error(faults.join('; '));
    return `${settings.brokers.join(',')} responds, and no right is missing`;
  } catch (error) {
    throw new Error(explainFault(error, settings), { cause: error });
  } finally {
    await kafka.close();
  }
}
