import { testKafkaBrokers } from '@webhooks/local';
import { createKafka, ensureTopics, openSink } from '@webhooks/kafka';
import type { Kafka, OutgoingRecord } from '@webhooks/kafka';
import { Closers, HealthBoard, NO_TRACING, Registry } from '@webhooks/runtime';
import { eventually, randomName } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import { runProjections } from '../../src/projection/run-projections.js';
import { Positions } from '../../src/projection/positions.js';
import { forgetGeneration, generationOf } from '../../src/projection/generation.js';
import type { RunPositionQuery } from '../../src/projection/positions.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';

const silent = (): undefined => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
let test: TestDatabase;
let kafka: Kafka;
beforeAll(async () => {
  test = await openTestDatabase(randomName('keep'));
  kafka = createKafka({ brokers: testKafkaBrokers(), clientId: 'keep-test' });
});
afterAll(async () => {
  await kafka.close();
  await test.close();
});

const runQuery: RunPositionQuery = (statement) => test.database.within(5_000)(statement);

/** A topic with these values, by turns in its partitions; it may be there already. */
async function topicOf(values: readonly string[], topic = randomName('keep'), partitions = 1) {
  await ensureTopics(kafka, [{ name: topic, partitions, replicationFactor: 1, configs: {} }], {
    deadlineMs: 60_000,
  });
  const sink = await openSink({ kafka });
  const records = values.map((value, index): OutgoingRecord => ({
    topic,
    partition: index % partitions,
    key: 'key',
    value: Buffer.from(value),
    headers: {},
  }));
  await Promise.all(records.map((record) => sink.send(record, { deadlineMs: 30_000 })));
  await sink.close();
  return topic;
}

async function deleteTopic(topic: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [...testKafkaBrokers()] }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
}

/** An instance that reads a topic; it forgets what it read with its process. */
function start(topic: string, groupPrefix: string, { own = kafka, intervalMs = 600_000 } = {}) {
  const closers = new Closers();
  const read: string[] = [];
  const faults: unknown[] = [];
  const projection = {
    name: 'values',
    topics: [topic],
    // By default nothing is read unless a query waits.
    intervalMs,
    readsForOthers: true,
    apply: (records: readonly { readonly value: Buffer | null }[]) => {
      read.push(...records.map(({ value }) => String(value)));
      return Promise.resolve();
    },
  };
  const health = new HealthBoard();
  const catchUps = runProjections(
    { kafka: own, groupPrefix, projections: [projection], runQuery },
    {
      ...{ log, health, registry: new Registry(), addPage: silent, tracing: NO_TRACING },
      onClose: (name, close) => closers.add(name, close),
      fail: (error) => faults.push(error),
    },
  );
  const ready = () => eventually(() => health.isReady().ok, { timeoutMs: 60_000 });
  return { catchUps, read, faults, ready, stop: () => closers.closeAll(log, 20_000) };
}

it('an instance that is started again continues, and after a reset it ends and then reads everything again', async () => {
  const topic = await topicOf(['a', 'b']);
  const group = randomName('group');
  const first = start(topic, group);
  await first.ready();
  expect(await eventually(async () => (await first.catchUps.get(topic)?.wait()) === 'passed')).toBe(true);
  expect(first.read).toEqual(['a', 'b']);
  await first.stop();

  const second = start(topic, group);
  await second.ready();
  expect(await second.catchUps.get(topic)?.wait()).toBe('passed');
  expect([second.read, second.faults]).toEqual([[], []]);
  const models = test.database.models();
  if (models) await forgetGeneration(models.positions);
  await eventually(() => second.faults.length > 0);
  expect(String(second.faults[0])).toContain('restarting to read everything again');
  await second.stop();

  const third = start(topic, group);
  await eventually(() => expect(third.read).toEqual(['a', 'b']), { timeoutMs: 60_000 });
  await third.stop();
}, 120_000);

it('a topic that was made anew is read from its beginning, by a process that is started again', async () => {
  const topic = await topicOf(['a', 'b', 'c']);
  const group = randomName('group');
  const before = start(topic, group, { intervalMs: 200 });
  await eventually(async () => (await before.catchUps.get(topic)?.positions.offsets())?.get(0) === 3);
  await deleteTopic(topic);
  await topicOf(['d'], topic);
  await eventually(() => before.faults.length > 0, { timeoutMs: 60_000 });
  await before.stop();

  const after = start(topic, group);
  await eventually(() => expect(after.read).toEqual(['d']), { timeoutMs: 60_000 });
  await eventually(async () => (await after.catchUps.get(topic)?.positions.offsets())?.get(0) === 1);
  expect(await after.catchUps.get(topic)?.wait()).toBe('passed');
  expect(after.faults).toEqual([]);
  await after.stop();
}, 120_000);

it('a query makes its instance read at once, and beside others each reads without being asked', async () => {
  const topic = await topicOf(['a', 'b'], randomName('keep'), 2);
  const other = createKafka({ brokers: testKafkaBrokers(), clientId: 'keep-test-other' });
  const group = randomName('group');
  const both = [start(topic, group), start(topic, group, { own: other })];
  for (const { ready } of both) await ready();
  const halves = new Map([0, 1].map((partition) => [partition, 0]));
  await eventually(() => both.every(({ catchUps }) => catchUps.get(topic)?.positions.needsOthers(halves)), {
    timeoutMs: 60_000,
  });
  await topicOf(['c', 'd'], topic, 2);
  for (const { catchUps } of both) expect(await catchUps.get(topic)?.wait()).toBe('passed');
  for (const { stop } of both) await stop();
  await other.close();
}, 120_000);

it('a rebuild generation is ended by its name, and a later one stays', async () => {
  const generation = await generationOf(runQuery);
  expect(await runQuery(({ positions }) => forgetGeneration(positions, { generation: 'another' }))).toBe(
    false,
  );
  expect(await generationOf(runQuery)).toBe(generation);
});

it('the position of a partition that another instance projects is read from the database', async () => {
  const own = { topic: 'dead-letters', partition: 0, offset: 9 };
  const open = (topic: string, owned: typeof own) => {
    const running = () => ({ positions: () => [owned], fetchNow: () => undefined });
    return new Positions({
      topic,
      name: topic,
      generation: () => 'a-generation',
      runQuery,
      running,
      readsForOthers: true,
    });
  };
  const ends = new Map([[0, 5]]);
  const here = open('attempts', own);
  here.mergeOwn();
  expect([here.covers(ends), here.needsOthers(ends)]).toEqual([false, true]);
  const there = open('attempts', { ...own, topic: 'attempts' });
  await there.write();
  await here.readOthers();
  expect(here.covers(ends)).toBe(true);
  // A failover has lost the write: it is written again.
  const filter = { _id: 'a-generation/attempts' };
  await runQuery(({ positions }) => positions.updateOne(filter, { $set: { 'offsets.0': 3 } }).exec());
  await there.readOthers();
  await there.write();
  const row = await runQuery(({ positions }) => positions.findById(filter._id).lean().exec());
  expect(row?.offsets).toEqual({ 0: 9 });
});
