import { TOPIC_TABLE } from '@webhooks/contracts';
import { testKafkaBrokers, testMongoUri } from '@webhooks/local';
import { createKafka, ensureTopics, openSink } from '@webhooks/kafka';
import type { OutgoingRecord } from '@webhooks/kafka';
import { Closers, HealthBoard, Registry, SettingsReader } from '@webhooks/runtime';
import type { LogFields } from '@webhooks/runtime';
import { AUDIENCE, eventually, openTokenDesk, randomName } from '@webhooks/testkit';
import type { TokenDesk } from '@webhooks/testkit';
import mongoose from 'mongoose';
import { composeQueryApi } from '../../src/compose.js';
import { readQueryApiConfig } from '../../src/config.js';

/** A statement as it was sent to the database. */
export interface SentCommand {
  readonly commandName: string;
  readonly command: Readonly<Record<string, unknown>>;
}

export interface RunningQueryApi {
  readonly url: string;
  readonly desk: TokenDesk;
  /** Calls back for each statement of this instance, whoever caused it, until the instance stops. */
  onCommand(listener: (sent: SentCommand) => void): void;
  /** Appends records to topics that the service reads; resolves when they are acknowledged. */
  publish(...records: readonly OutgoingRecord[]): Promise<void>;
  /** As its admin server shows them. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

const silent = (): undefined => undefined;

/** The topics as the services make them, so that no test waits for the creation in the background. */
export async function openPublisher(closers: Closers): Promise<RunningQueryApi['publish']> {
  const kafka = createKafka({ brokers: testKafkaBrokers(), clientId: 'query-api-test' });
  closers.add('kafka of the test', () => kafka.close());
  const topics = TOPIC_TABLE.map((spec) => ({ ...spec, replicationFactor: 1 }));
  await ensureTopics(kafka, topics, { deadlineMs: 60_000 });
  const sink = await openSink({ kafka });
  closers.add('sink of the test', () => sink.close());
  return (...records) => sink.sendMany(records);
}

/** What the service is started with, for a database of this name. */
export function environment(desk: TokenDesk, database: string): Record<string, string> {
  const uri = testMongoUri(database);
  return {
    KAFKA_BROKERS: testKafkaBrokers().join(','),
    // Without it the driver tells of no statement.
    MONGODB_URI: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
    TOKEN_ISSUER: desk.issuer,
    TOKEN_JWKS_URI: desk.jwksUri,
    TOKEN_AUDIENCE: AUDIENCE,
    HOST: '127.0.0.1',
    PORT: '0',
    SHUTDOWN_DELAY_MS: '0',
  };
}

/** The real service in this process, against a real broker and a real database of its own; resolves when it is ready. */
export async function startQueryApi(): Promise<RunningQueryApi> {
  const closers = new Closers();
  const desk = await openTokenDesk();
  closers.add('token desk', () => desk.stop());
  const publish = await openPublisher(closers);
  const database = randomName('query_api');
  let port = 0;
  const info = (message: string, fields: LogFields = {}): void => {
    if (message === 'listening') port = Number(fields['port']);
  };
  const log = { debug: silent, info, warn: silent, error: silent };
  const health = new HealthBoard();
  const registry = new Registry();
  await composeQueryApi(readQueryApiConfig(new SettingsReader(environment(desk, database))), {
    log,
    registry,
    health,
    onClose: (name, close) => closers.add(name, close),
    addPage: silent,
    fail: silent,
  });
  await eventually(() => health.isReady().ok, { timeoutMs: 60_000 });
  const pools = mongoose.connections.filter(({ name }) => name === database);
  expect(pools).toHaveLength(2);
  return {
    url: `http://127.0.0.1:${port}`,
    desk,
    onCommand: (listener) => {
      for (const pool of pools) pool.getClient().on('commandStarted', listener);
    },
    publish,
    metrics: () => registry.metrics(),
    stop: async () => {
      await closers.closeAll(log, 20_000);
    },
  };
}
