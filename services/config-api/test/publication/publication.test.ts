import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  COMPLETE_KEY,
  configurationKey,
  parseConfigurationRecord,
  isCompleteMark,
  readCompleteMark,
  RevisionTable,
  TOPIC_TABLE,
  TOPICS,
} from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import { createKafka, ensureTopics, openTableReader } from '@webhooks/kafka';
import { freePort, startKafka } from '@webhooks/local';
import type { KafkaEngine } from '@webhooks/local';
import { eventually } from '@webhooks/testkit';
import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { createConnection } from 'mongoose';
import type { Connection } from 'mongoose';
import { modelOn, toRow } from '../../src/store/database.js';
import type { ConfigurationRow } from '../../src/store/database.js';
import type { Caller } from '../support/caller.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic, SeenConfiguration } from '../support/configuration-topic.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let topic: ConfigurationTopic;
let database: Connection;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
  topic = openConfigurationTopic();
  database = await createConnection(api.env['MONGODB_URI'] ?? '').asPromise();
});
beforeEach(async () => {
  acme = await api.tenant();
});
afterAll(async () => {
  await database.close();
  await topic.close();
  await api.stop();
});

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' } as const;

const register = async (): Promise<string> => String((await acme.post(HOOK)).body['ref']);
const rowOf = async (ref: string): Promise<ConfigurationRow | null> =>
  database
    .collection<ConfigurationRow>('configurations')
    .findOne({ _id: configurationKey(acme.tenantId, ref) });
const lastOf = (ref: string): SeenConfiguration | undefined => topic.recordsOf(acme.tenantId, ref).at(-1);
/** What a worker that starts now goes by. */
function inForce(ref: string): ConfigurationRecord | undefined {
  const table = new RevisionTable<ConfigurationRecord>();
  for (const seen of topic.recordsOf(acme.tenantId, ref)) {
    const read = parseConfigurationRecord(Buffer.from(JSON.stringify(seen)));
    if (read.ok) table.apply(read.configuration);
  }
  return table.find(acme.tenantId, ref);
}
const untilLast = (ref: string, revision: number, count: number): Promise<unknown> =>
  eventually(
    () => lastOf(ref)?.['revision'] === revision && topic.recordsOf(acme.tenantId, ref).length >= count,
    { timeoutMs: 15_000, message: `the last record has revision ${revision}` },
  );

describe('a published configuration', () => {
  it('is noted as published, so that it is not published again', async () => {
    const ref = await register();
    await eventually(async () => {
      const row = await rowOf(ref);
      expect(row).toMatchObject({ revision: 1, publishedRevision: 1 });
      expect(row).not.toHaveProperty('unpublished');
    });
    expect(topic.recordsOf(acme.tenantId, ref).length).toBeLessThanOrEqual(1);
  });
});

describe('the topic', () => {
  it('is repaired when an older record overtook a newer one', async () => {
    const ref = await register();
    const first = await topic.recordOf(acme.tenantId, ref, 1);
    await acme.put({ ...HOOK, ref, enabled: false });
    await topic.recordOf(acme.tenantId, ref, 2);
    await topic.write(acme.tenantId, ref, JSON.stringify(first));
    await untilLast(ref, 2, 4);
    expect(lastOf(ref)).toMatchObject({ enabled: false });
  });

  it.each([
    ['removed', null],
    ['overwritten with what is no configuration', 'garbage'],
  ])('is repaired when a record was %s', async (_name, value) => {
    const ref = await register();
    await topic.recordOf(acme.tenantId, ref, 1);
    await topic.write(acme.tenantId, ref, value);
    await untilLast(ref, 1, 3);
  });

  it('gets a revision above its own when the database is older, and later changes continue from it', async () => {
    const ref = await register();
    const first = await topic.recordOf(acme.tenantId, ref, 1);
    const ahead = { ...first, revision: 9, enabled: false };
    const behind = { ...first, revision: 8 };
    await topic.write(acme.tenantId, ref, JSON.stringify(ahead));
    await topic.write(acme.tenantId, ref, JSON.stringify(behind));
    await untilLast(ref, 10, 4);
    expect(lastOf(ref)).toMatchObject({ revision: 10, enabled: true });
    await acme.put({ ...HOOK, ref, enabled: false });
    expect(await topic.recordOf(acme.tenantId, ref, 11)).toMatchObject({ enabled: false });
  });

  it('gets a change with a revision above that of a foreign record', async () => {
    const ref = await register();
    const first = await topic.recordOf(acme.tenantId, ref, 1);
    await topic.write(acme.tenantId, ref, JSON.stringify({ ...first, revision: 33 }));
    await topic.recordOf(acme.tenantId, ref, 33);
    await acme.put({ ...HOOK, ref, enabled: false });
    await untilLast(ref, 34, 4);
    expect(lastOf(ref)).toMatchObject({ enabled: false });
  });

  it.each([
    ['far above what changes reach', () => 1e12],
    ['of this moment', () => Date.now()],
    ['of the next hour', () => Date.now() + 3_600_000],
    ['that is the highest number', () => Number.MAX_SAFE_INTEGER],
  ])('gets a change that readers apply above a revision %s, and then no more records', async (_name, now) => {
    const ref = await register();
    const first = await topic.recordOf(acme.tenantId, ref, 1);
    await topic.write(acme.tenantId, ref, JSON.stringify({ ...first, revision: now() }));
    await acme.put({ ...HOOK, ref, enabled: false });
    await eventually(() => expect(inForce(ref)).toMatchObject({ enabled: false }), { timeoutMs: 15_000 });
    const count = (): number => topic.recordsOf(acme.tenantId, ref).length;
    let [seen, since] = [count(), performance.now()];
    await eventually(
      () => {
        if (count() > seen) [seen, since] = [count(), performance.now()];
        return performance.now() - since > 2_500;
      },
      { timeoutMs: 15_000, message: 'nothing is published any more' },
    );
    expect(inForce(ref)).toMatchObject({ enabled: false });
  });

  it.each([1, 2])(
    'gets a change of a database that was restored to revision %i meanwhile',
    async (restored) => {
      const ref = await register();
      const rows = [await rowOf(ref)];
      await acme.put({ ...HOOK, ref, enabled: true });
      rows.push(await rowOf(ref));
      await acme.put({ ...HOOK, ref, enabled: true });
      await topic.recordOf(acme.tenantId, ref, 3);
      const row = rows[restored - 1];
      if (!row) throw new Error('the webhook is not in the database');
      await database.collection<ConfigurationRow>('configurations').replaceOne({ _id: row._id }, row);
      const { body } = await acme.put({ ...HOOK, ref, enabled: false });
      expect(body).toMatchObject({ enabled: false });
      await untilLast(ref, 4, 5);
      expect(lastOf(ref)).toMatchObject({ enabled: false });
    },
  );

  it('gets a webhook that a restored database lost, when it is registered again under its ref', async () => {
    const ref = await register();
    await topic.recordOf(acme.tenantId, ref, 1);
    await database
      .collection<ConfigurationRow>('configurations')
      .deleteOne({ _id: configurationKey(acme.tenantId, ref) });
    expect(await acme.post({ ...HOOK, ref, enabled: false })).toMatchObject({ status: 200 });
    await untilLast(ref, 2, 3);
    expect(lastOf(ref)).toMatchObject({ enabled: false });
  });

  it('gets missing records when the service starts, even those that the database has as published', async () => {
    const ref = randomUUID();
    const long = new Date(Date.now() - 60_000);
    const row = toRow({
      ...HOOK,
      ...{ tenantId: acme.tenantId, ref, normalizedUrl: HOOK.endpointUrl, enabled: true, position: 1 },
      ...{ revision: 3, publishedRevision: 3, createdAt: long, updatedAt: long, secrets: [], policy: {} },
    });
    await modelOn(database).insertOne(row);
    const second = await startConfigApi(api.env);
    expect(await topic.recordOf(acme.tenantId, ref, 3)).toMatchObject({ tenantId: acme.tenantId });
    await second.stop();
  });
});

describe('without Kafka', () => {
  it('a change is durable, gets a response within 3 s with published: false, and is published later', async () => {
    const brokers = `127.0.0.1:${await freePort()}`;
    const lonely = await startConfigApi({
      MONGODB_URI: api.env['MONGODB_URI'] ?? '',
      KAFKA_BROKERS: brokers,
    });
    await eventually(() => lonely.ready().ok);
    const tenant = await lonely.tenant(acme.tenantId);
    const begun = performance.now();
    const { status, body } = await tenant.post(HOOK);
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(status).toBe(200);
    expect(body['published']).toBe(false);
    await lonely.stop();
    const record = await topic.recordOf(acme.tenantId, String(body['ref']), 1);
    expect(record).toMatchObject(HOOK);
  });
});

describe('with a broker of its own', () => {
  let kafka: KafkaEngine;
  let folder: string;
  let own: RunningConfigApi;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-api-kafka-'));
    kafka = await startKafka({ dataDir: folder });
    own = await startConfigApi({ KAFKA_BROKERS: kafka.brokers.join(',') });
  });
  afterAll(async () => {
    await own.stop();
    await kafka.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('a topic of configurations that was made anew gets all of them at once', async () => {
    const tenant = await own.tenant();
    const refs: string[] = [];
    // The leaders of some partitions are not there yet: what is not published at once is published later.
    for (let index = 0; index < 20; index += 1) {
      const { status, body } = await tenant.post({ ...HOOK, endpointUrl: `https://a.b/${randomUUID()}` });
      expect(status).toBe(200);
      refs.push(String(body['ref']));
    }
    const kafkajsClient = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
    const admin = kafkajsClient.admin();
    await admin.connect();
    const keys = async () => Number(/^config_api_topic_keys (\d+)$/m.exec(await own.metrics())?.[1]);
    await eventually(async () => (await keys()) >= 20, { timeoutMs: 30_000 });
    await admin.deleteTopics({ topics: [TOPICS.configurations] });
    await eventually(async () => !(await admin.listTopics()).includes(TOPICS.configurations));
    const client = createKafka({ brokers: kafka.brokers, clientId: 'made-anew' });
    await ensureTopics(client, TOPIC_TABLE);
    // One that was on its way while the topic was deleted.
    const late = { key: COMPLETE_KEY, value: JSON.stringify([1_000]) };
    const producer = kafkajsClient.producer();
    await producer.connect();
    const markLate = () => producer.send({ topic: TOPICS.configurations, messages: [late] });
    await markLate();
    const seen = new Set<string>();
    let mark: readonly number[] = [1_000];
    const reader = openTableReader({
      kafka: client,
      topic: TOPICS.configurations,
      onRecord: (record) => {
        if (isCompleteMark(record)) mark = readCompleteMark(record.value) ?? mark;
        seen.add(String(record.key));
      },
    });
    const isComplete = (): boolean => reader.hasRead(mark.entries());
    await reader.until(isComplete);
    // Of another partition it may be read after the mark.
    await reader.catchUp();
    expect(refs.filter((ref) => !seen.has(configurationKey(tenant.tenantId, ref)))).toEqual([]);
    // One that comes later still is followed by another one.
    await markLate();
    await reader.catchUp();
    await reader.until(isComplete);
    await producer.disconnect();
    await reader.close();
    await client.close();
    await admin.disconnect();
  });

  it('the service creates the topics by itself, goes on while the broker is away and catches up when it is back', async () => {
    const tenant = await own.tenant();
    const first = await eventually(
      async () => {
        const { body } = await tenant.post({ ...HOOK, endpointUrl: `https://a.b/${randomUUID()}` });
        return body['published'] === undefined ? body : false;
      },
      { timeoutMs: 30_000, message: 'a change is published' },
    );
    kafka.kill();
    const late = await tenant.put({ ...HOOK, ref: first['ref'], endpointUrl: 'https://a.b/late' });
    const secret = await tenant.rotate(String(first['ref']));
    const removed = await tenant.remove(String(first['ref']));
    expect([late.body['published'], secret.body['published'], removed.status]).toEqual([false, false, 202]);
    await kafka.restart();
    const connection = await createConnection(own.env['MONGODB_URI'] ?? '').asPromise();
    const stored = connection.collection('configurations');
    const untilPublished = (): Promise<unknown> =>
      eventually(async () => (await stored.countDocuments({ unpublished: true })) === 0, {
        ...{ timeoutMs: 30_000, intervalMs: 200, message: 'everything is published' },
      });
    await untilPublished();
    // As an instance leaves it whose clock was ahead, and that was killed before it could publish.
    const ahead = new Date(Date.now() + 600_000);
    const left = { $set: { updatedAt: ahead, unpublished: true, publishedRevision: 1 } };
    expect((await stored.updateOne({ ref: first['ref'] }, left)).modifiedCount).toBe(1);
    await untilPublished();
    await connection.close();
    const again = await tenant.put({ ...HOOK, ref: first['ref'], endpointUrl: 'https://a.b/later' });
    expect(again.body['published']).toBeUndefined();
  });
});
