import { TOPIC_TABLE } from '@webhooks/contracts';
import { createKafka, ensureTopics, openSink } from '@webhooks/kafka';
import type { OutgoingRecord } from '@webhooks/kafka';
import { testKafkaBrokers, testMongoUri } from '@webhooks/local';
import { Closers } from '@webhooks/runtime';
import { LOCAL_API, TokenDesk, eventually, randomName, startInProcess } from '@webhooks/testkit';
import mongoose from 'mongoose';
import { composeQueryApi } from '../../src/compose.js';
import { readQueryApiConfig } from '../../src/config.js';

/** A statement as it was sent to the database. */
export interface SentCommand {
  readonly commandName: string;
  readonly command: Readonly<Record<string, unknown>>;
}

export type RunningQueryApi = Awaited<ReturnType<typeof startQueryApi>>;

/** The topics as the services make them, so that no test waits for the creation in the background. */
export async function openPublisher(
  closers: Closers,
): Promise<(...records: readonly OutgoingRecord[]) => Promise<void>> {
  const kafka = createKafka({ brokers: testKafkaBrokers(), clientId: 'query-api-test' });
  closers.add('kafka of the test', () => kafka.close());
  const topics = TOPIC_TABLE.map((spec) => ({ ...spec, replicationFactor: 1 }));
  await ensureTopics(kafka, topics, { deadlineMs: 60_000 });
  const sink = await openSink({ kafka });
  closers.add('sink of the test', () => sink.close());
  return async (...records) => {
    await Promise.all(records.map((record) => sink.send(record)));
  };
}

/** What the service is started with, for a database of this name. */
export function environment(desk: TokenDesk, database: string): Record<string, string> {
  const uri = testMongoUri(database);
  return {
    KAFKA_BROKERS: testKafkaBrokers().join(','),
    // Without it the driver tells of no statement.
    MONGODB_URI: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
    ...desk.settings,
    ...LOCAL_API,
  };
}

/** The real service in this process, against a real broker and a real database of its own; resolves when it is ready. */
export async function startQueryApi() {
  const closers = new Closers();
  const desk = await TokenDesk.open();
  closers.add('token desk', () => desk.close());
  const publish = await openPublisher(closers);
  const database = randomName('query_api');
  const parts = { readConfig: readQueryApiConfig, compose: composeQueryApi };
  const service = await startInProcess(parts, environment(desk, database));
  closers.add('service', service.stop);
  await eventually(() => service.ready().ok, { timeoutMs: 60_000 });
  const pools = mongoose.connections.filter(({ name }) => name === database);
  expect(pools).toHaveLength(2);
  const silent = (): undefined => undefined;
  return {
    ...service,
    desk,
    /** Calls back for each statement of this instance, whoever caused it, until the instance stops. */
    onCommand: (listener: (sent: SentCommand) => void) => {
      for (const pool of pools) pool.getClient().on('commandStarted', listener);
    },
    /** Appends records to topics that the service reads; resolves when they are acknowledged. */
    publish,
    stop: async () => {
      const faults: unknown[] = [];
      const error = (_: string, fields: unknown): void => {
        faults.push(fields);
      };
      await closers.closeAll({ debug: silent, info: silent, warn: silent, error }, 30_000);
      expect(faults).toEqual([]);
    },
  };
}
