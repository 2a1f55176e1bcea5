import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifySignature } from '@webhooks/client';
import type { Client } from '@webhooks/client';
import { RECORD_FORMAT, TOPICS, TOPIC_TABLE, parseDeliveryTask, readEvent } from '@webhooks/contracts';
import { emptyTestEngines, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import {
  areZero,
  clientFor,
  createKafkaClient,
  readLags,
  readUnhandled,
  refOf,
  withAdmin,
} from '@webhooks/testkit/account';
import type { FoundRecord } from '@webhooks/testkit/account';
import kafkajs from 'kafkajs';
import mongoose from 'mongoose';
import { readTopics } from '../../src/chaos/evidence/read-topics.js';
import { RELEASE, readFixtures } from './fixtures.js';
import type { FixtureRecord } from './fixtures.js';

const fixtures = readFixtures(RELEASE);
const recordsOf = (topic: string) => fixtures.records.filter((record) => record.topic === topic);
/** Tenants whose webhooks get the address of this run's receiver. */
const MOVED = ['acme', 'globex'];
const documentsOf = (collection: string) =>
  fixtures.documents.filter((one) => one.collection === collection).map(({ document }) => document);

describe(`the fixtures of ${RELEASE}`, () => {
  it('have records of every topic', () => {
    const missing = TOPIC_TABLE.filter(({ name }) => recordsOf(name).length === 0).map(({ name }) => name);
    expect(missing).toEqual([]);
  });

  it('have documents of every collection', () => {
    const names = new Set(fixtures.documents.map(({ database, collection }) => `${database}.${collection}`));
    expect([...names].sort()).toMatchInlineSnapshot(`
      [
        "webhook_config.configurations",
        "webhook_query.deliveries",
        "webhook_query.endpointHealth",
        "webhook_query.episodes",
        "webhook_query.events",
        "webhook_query.fan_outs",
        "webhook_query.positions",
        "webhook_query.redeliveries",
        "webhook_query.totals",
      ]
    `);
  });

  it('have each kind of record on the log, and each status of a delivery', () => {
    const log = recordsOf(TOPICS.attempts)
      .map(({ value }) => String(value))
      .join('\n');
    for (const kind of ['attempt', 'deferred', 'cancelled', 'dead']) expect(log).toContain(`"${kind}"`);
  });
});

interface Engines {
  readonly kafkaBrokers: readonly string[];
  readonly mongodbUri: string;
}

/** Produces records at their partitions, in their order. */
async function produce(brokers: readonly string[], records: readonly FixtureRecord[]): Promise<void> {
  const producer = createKafkaClient(brokers, 'fixtures').producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const topicMessages = [...Map.groupBy(records, ({ topic }) => topic)].map(([topic, own]) => ({
    topic,
    messages: own.map(({ partition, key, headers, value }) => ({ partition, key, headers, value })),
  }));
  await producer.sendBatch({ acks: -1, topicMessages });
  await producer.disconnect();
}

async function fillKafka(brokers: readonly string[]): Promise<void> {
  const topics = TOPIC_TABLE.map(({ name: topic, partitions: numPartitions, configs }) => ({
    ...{ topic, numPartitions },
    configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })),
  }));
  await withAdmin(brokers, async (admin) => {
    await admin.createTopics({ waitForLeaders: false, topics });
    // Fails until every partition has a leader.
    await eventually(() => Promise.all(topics.map(({ topic }) => admin.fetchTopicOffsets(topic))));
  });
  await produce(brokers, fixtures.records);
}

async function fillMongo(uri: string): Promise<void> {
  const client = await new mongoose.mongo.MongoClient(uri).connect();
  const byPlace = Map.groupBy(fixtures.documents, (one) => `${one.database} ${one.collection}`);
  for (const own of byPlace.values()) {
    const [{ database, collection } = { database: '', collection: '' }] = own;
    await client
      .db(database)
      .collection(collection)
      .insertMany(own.map(({ document }) => document));
  }
  await client.close();
}

describe('a stack of this checkout on what the release wrote', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'fixtures-'));
  let engines: Engines;
  let stack: Stack;
  let endpoint: Endpoint;
  const clientOf = (tenantId: string): Client => clientFor(stack.description(), tenantId);
  const TENANTS = ['acme', 'globex', 'initech'];

  /** Webhooks are moved to an endpoint of this test, because the ports of the release's run may be in use. */
  async function moveWebhooks(tenantId: string): Promise<void> {
    const client = clientOf(tenantId);
    for (const webhook of (await client.list({ enabled: true })).data)
      await client.update({
        ...webhook,
        endpointUrl: `${endpoint.origin}${new URL(webhook.endpointUrl).pathname}`,
      });
  }

  beforeAll(async () => {
    engines = await emptyTestEngines();
    await Promise.all([fillKafka(engines.kafkaBrokers), fillMongo(engines.mongodbUri)]);
    writeFileSync(join(dataDir, 'format'), RECORD_FORMAT);
    writeFileSync(
      join(dataDir, 'secrets.json'),
      JSON.stringify({ keyring: fixtures.about.keyring, seed: '00' }),
    );
    stack = await startStack({
      ...{ ...engines, dataDir, fixedPorts: false, tenants: TENANTS, log: () => undefined },
      without: ['delivery-worker', 'query-api'],
    });
    endpoint = await startEndpoint(await stack.authority.issue(['localhost']));
    await Promise.all(MOVED.map(moveWebhooks));
    await Promise.all(['delivery-worker', 'query-api'].map((name) => stack.fleet.start(name)));
  });

  afterAll(async () => {
    await stack.stop();
    await endpoint.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Records that a worker could not read: events are rejected, and tasks are dead letters that tell from where they came. */
  const unread = async (): Promise<readonly string[]> => {
    const found: FoundRecord[] = [];
    const topics = [TOPICS.rejected, TOPICS.deadLetters];
    await readUnhandled(engines.kafkaBrokers, { topics }, (one) => found.push(one));
    const isDamaged = ({ topic, message: { headers = {} } }: FoundRecord) =>
      topic === TOPICS.rejected || headers['damaged-topic'] !== undefined;
    return found.filter(isDamaged).map(({ topic }) => topic);
  };
  const arrivalsOf = (eventId: string) => endpoint.arrivals.filter(({ id }) => id === eventId);

  it('lists every webhook and opens every secret', async () => {
    for (const tenantId of TENANTS) {
      const stored = documentsOf('configurations').filter((one) => one['tenantId'] === tenantId);
      const { data } = await clientOf(tenantId).list();
      const alerts = await clientOf(tenantId).alertEndpoints();
      const listed = [...data, ...alerts.data].map(({ ref }) => ref);
      expect(listed.sort()).toEqual(stored.map(({ ref }) => String(ref)).sort());
    }
    const { data } = await clientOf('acme').list({ ref: refOf('/changed') });
    expect(data).toMatchObject([{ applicationId: 'shop' }]);
    expect(await clientOf('acme').policy(refOf('/changed'))).toMatchObject({ retryDelays: ['5s', '1h'] });
    const signed = await eventually(() => endpoint.arrivals.find(({ path }) => path === '/changed') ?? false);
    expect(signed.headers['authorization']).toBe('Bearer of-the-endpoint-0123456789');
    expect(() => verifySignature(signed.headers, signed.body, fixtures.about.secret)).not.toThrow();
  });

  it('delivers every event, and every task of the short tiers', async () => {
    const waiting = ['1s', '5s'].flatMap((tier) => recordsOf(`webhooks.retries.${tier}`));
    const tasks = waiting.flatMap(({ headers, value }) => {
      const parsed = parseDeliveryTask(headers, value);
      if (!parsed.ok) throw new Error(`a task cannot be read: ${JSON.stringify(parsed)}`);
      return parsed.task.ref === refOf('/refuses/disabled') ? [] : [parsed.task];
    });
    expect(tasks.length).toBeGreaterThan(1);
    const missing = () =>
      tasks.filter(
        ({ eventId, attempt }) =>
          !arrivalsOf(eventId).some(({ headers }) => Number(headers['webhook-attempt']) === attempt),
      );
    await eventually(() => expect(missing()).toEqual([]), { timeoutMs: 20_000 });
    const events = recordsOf(TOPICS.events).flatMap(({ value }) => {
      const read = readEvent(value ?? Buffer.alloc(0));
      return read.ok ? [read.event] : [];
    });
    const enabled = documentsOf('configurations').filter(
      (one) => one['enabled'] === true && MOVED.includes(String(one['tenantId'])),
    );
    const wanted = events.filter(({ tenantId, eventType }) =>
      enabled.some((one) => one['tenantId'] === tenantId && one['eventType'] === eventType),
    );
    expect(wanted.length).toBeGreaterThan(1);
    const undelivered = () => wanted.map(({ id }) => id).filter((id) => arrivalsOf(id).length === 0);
    await eventually(() => expect(undelivered()).toEqual([]), { timeoutMs: 20_000 });
  });

  it('shows every payment, notification, delivery and redelivery', async () => {
    const admin = stack.description().admin['query-api'];
    await eventually(async () => areZero(await readLags(admin)), { timeoutMs: 20_000 });
    for (const { value } of recordsOf(TOPICS.events)) {
      const read = readEvent(value ?? Buffer.alloc(0));
      if (!read.ok) continue;
      const { tenantId, id, eventType, data } = read.event;
      const client = clientOf(tenantId);
      expect(await client.notification(id)).toMatchObject({ id, eventType });
      expect(await client.transaction(data.endToEndId)).toMatchObject({ events: [id] });
    }
    for (const document of documentsOf('deliveries')) {
      const [deliveryId, ref] = [document._id, document['ref']].map(String);
      const delivery = await clientOf(String(document['tenantId'])).delivery(deliveryId ?? '');
      expect(delivery).toMatchObject({ deliveryId, ref });
    }
    const { data: jobs } = await clientOf('acme').redeliveries();
    expect(jobs.map(({ id }) => id)).toEqual(documentsOf('redeliveries').map((one) => String(one['_id'])));
  });

  it('rejects nothing but the one record that never was an event', async () => {
    const { unreadable } = await readTopics(stack);
    expect(unreadable.map(({ topic }) => topic)).toEqual([TOPICS.events]);
    // The release's own rejection of it, and this worker's.
    expect(await unread()).toEqual([TOPICS.rejected, TOPICS.rejected]);
  });

  it('does not read a task whose header was renamed: a planted incompatibility is found', async () => {
    const [task] = recordsOf('webhooks.retries.1s');
    if (!task) throw new Error('there is no task');
    const { 'due-at': dueAt = '', ...headers } = task.headers;
    await produce(engines.kafkaBrokers, [{ ...task, headers: { ...headers, due: dueAt } }]);
    await eventually(async () => (await unread()).includes(TOPICS.deadLetters), { intervalMs: 200 });
    const { unreadable } = await readTopics(stack);
    expect(unreadable.map(({ topic }) => topic)).toContain(task.topic);
  });
});
