import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { COMPLETE_KEY, TOPICS, configurationKey } from '@webhooks/contracts';
import type { ConfigurationRecord, PaymentEvent } from '@webhooks/contracts';
import { emptyTestEngines } from '@webhooks/local';
import type { LogFields } from '@webhooks/runtime';
import { sharedAuthority, startInProcess } from '@webhooks/testkit';
import type { LogLine, RunningService } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import { composeDeliveryWorker } from '../src/compose.js';
import { readWorkerConfig } from '../src/config.js';

export interface SeenRecord {
  readonly topic: string;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RunningWorker extends Omit<RunningService, 'lines'> {
  /** Its log, each line as JSON. */
  readonly lines: readonly string[];
}

/** The emptied broker of this jest worker, and what a test does with it besides the worker: publish, and look at topics. */
export interface Bench {
  readonly startWorker: (
    env?: Readonly<Record<string, string>>,
    onWarning?: (message: string) => void,
  ) => Promise<RunningWorker>;
  /** A worker in a process of its own, which may be killed. */
  readonly spawnWorker: (env?: Readonly<Record<string, string>>) => ChildProcess;
  readonly publish: (
    topic: string,
    record: { key: string; value: string | Buffer; headers?: Record<string, string>; partition?: number },
  ) => Promise<void>;
  /** With 12 partitions, before a worker makes it its own way. */
  readonly createTopic: (topic: string, configs: Readonly<Record<string, string>>) => Promise<void>;
  readonly configure: (configuration: ConfigurationRecord) => Promise<void>;
  readonly send: (event: PaymentEvent) => Promise<void>;
  /** In one request for each broker. */
  readonly sendAll: (events: readonly PaymentEvent[]) => Promise<void>;
  /** Everything on these topics, from the beginning, as it comes. */
  readonly follow: (...topics: readonly string[]) => Promise<readonly SeenRecord[]>;
  readonly stop: () => Promise<void>;
}

const PARTITIONS = 12;

export const KEYRING = `test:${randomBytes(32).toString('base64')}`;

async function settingsFor(brokers: readonly string[]): Promise<Record<string, string>> {
  return {
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_CLIENT_ID: randomBytes(6).toString('hex'),
    SECRETS_KEYS: KEYRING,
    ALLOW_LOCALHOST_ENDPOINTS: 'true',
    ENDPOINT_CA_FILE: (await sharedAuthority()).caFile,
    RETRY_JITTER_PERCENT: '0',
  };
}

/** The compiled one, as it runs in production but for its admin port. */
function spawnWorker(env: Readonly<Record<string, string>>): ChildProcess {
  const main = join(import.meta.dirname, '..', 'dist', 'src', 'main.js');
  const own = { ...env, NODE_ENV: 'development', ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' };
  return spawn(process.execPath, [main], { env: own, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function runWorker(
  brokers: readonly string[],
  env: Readonly<Record<string, string>>,
  faults: LogFields[],
  onWarning: (message: string) => void = () => undefined,
): Promise<RunningWorker> {
  const lines: string[] = [];
  const onLine = ({ level, message, fields }: LogLine): void => {
    if (level === 'fail') faults.push(fields);
    else lines.push(JSON.stringify({ message, ...fields }));
    if (level === 'warn') onWarning(message);
  };
  const parts = { readConfig: readWorkerConfig, compose: composeDeliveryWorker };
  const service = await startInProcess(parts, { ...(await settingsFor(brokers)), ...env }, onLine);
  return { ...service, lines };
}

function createFollower(kafka: kafkajs.Kafka, closers: (() => Promise<void>)[]): Bench['follow'] {
  return async (...topics) => {
    const consumer = kafka.consumer({
      groupId: `follow-${randomBytes(6).toString('hex')}`,
      maxWaitTimeInMs: 50,
    });
    const seen: SeenRecord[] = [];
    await consumer.connect();
    closers.push(() => consumer.disconnect());
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      eachMessage: ({ topic, message }) => {
        const headers = Object.fromEntries(
          Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]),
        );
        seen.push({ topic, value: message.value, headers });
        return Promise.resolve();
      },
    });
    return seen;
  };
}

/** `isComplete`: the topic of webhooks says that all are there. */
export async function openBench(isComplete = true): Promise<Bench> {
  const { kafkaBrokers } = await emptyTestEngines();
  const kafka = new kafkajs.Kafka({
    clientId: 'test',
    brokers: kafkaBrokers,
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const closers: (() => Promise<void>)[] = [() => producer.disconnect()];
  const faults: LogFields[] = [];
  const settings = await settingsFor(kafkaBrokers);
  const sendAll: Bench['sendAll'] = async (events) => {
    const messages = events.map((event) => ({ key: event.data.endToEndId, value: JSON.stringify(event) }));
    await producer.send({ topic: TOPICS.events, acks: -1, messages });
  };
  const publish: Bench['publish'] = async (topic, record) => {
    await producer.send({ topic, acks: -1, messages: [record] });
  };
  const createTopic: Bench['createTopic'] = async (topic, configs) => {
    const admin = kafka.admin();
    await admin.connect();
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const topics = [{ topic, numPartitions: PARTITIONS, configEntries }];
    await admin.createTopics({ topics, waitForLeaders: false });
    await admin.disconnect();
  };
  await createTopic(TOPICS.configurations, { 'cleanup.policy': 'compact' });
  if (isComplete) await publish(TOPICS.configurations, { key: COMPLETE_KEY, value: '[]' });
  return {
    startWorker: (env = {}, onWarning) => runWorker(kafkaBrokers, env, faults, onWarning),
    spawnWorker: (env = {}) => spawnWorker({ ...settings, ...env }),
    publish,
    createTopic,
    configure: async (configuration) => {
      const key = configurationKey(configuration.tenantId, configuration.ref);
      await publish(TOPICS.configurations, { key, value: JSON.stringify(configuration) });
    },
    send: (event) => sendAll([event]),
    sendAll,
    follow: createFollower(kafka, closers),
    stop: async () => {
      for (const close of closers) await close();
      if (faults.length > 0) throw new Error('the worker gave up', { cause: faults[0] });
    },
  };
}
