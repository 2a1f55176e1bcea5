import { performance } from 'node:perf_hooks';
import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { eventually, randomName } from '@webhooks/testkit';
import { openSink, openSource, type Sink } from '../../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from '../support/cluster.js';
import { collect } from '../support/collect.js';

const lines: string[] = [];
const kafka = sharedKafka((_level, message) => lines.push(message));
const joins = (): number => lines.filter((line) => line.endsWith('joined a group')).length;
const admin = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
let sink: Sink;
beforeAll(async () => {
  sink = await openSink({ kafka });
  await admin.connect();
});
afterAll(async () => {
  await admin.disconnect();
  await sink.close();
  await closeAll();
});

const put = (topic: string, values: readonly string[]) =>
  Promise.all(values.map((value) => sink.send({ topic, key: value, value })));

describe('source, over time', () => {
  it('[heartbeats only from your code or between batches] stays a member while records hang for longer than the session', async () => {
    const topic = await newTopic(kafka, 1);
    await put(topic, ['a', 'b']);
    const held: (() => void)[] = [];
    const before = joins();
    const { source } = await collect(kafka, {
      groupId: randomName('group'),
      topics: [topic],
      window: { maxInFlight: 1, maxInFlightBytes: 1_000 },
      handle: () => new Promise<void>((resolve) => held.push(resolve)),
    });
    await eventually(() => held.length === 1);
    const end = performance.now() + 7_000;
    await eventually(() => performance.now() > end, { timeoutMs: 20_000 });
    expect(source.health()).toMatchObject({ joined: true, inFlight: 1 });
    expect(joins() - before).toBe(1);
    // Nothing went forward: that is what liveness looks at.
    expect(performance.now() - source.health().lastProgressAt).toBeGreaterThan(6_000);
    held.shift()?.();
    await eventually(() => held.length === 1);
    expect(performance.now() - source.health().lastProgressAt).toBeLessThan(5_000);
    held.shift()?.();
    expect(await source.stop({ deadlineMs: 2_000 })).toMatchObject({ drained: true });
  });

  it('goes on at the earliest record when retention deleted the committed one', async () => {
    const topic = await newTopic(kafka, 1);
    const groupId = randomName('group');
    await put(topic, ['0', '1', '2']);
    const first = await collect(kafka, { groupId, topics: [topic] });
    await eventually(() => first.records.length === 3);
    await first.source.stop({ deadlineMs: 1_000 });
    await put(topic, ['3', '4', '5', '6']);
    await admin.fetchTopicOffsets(topic); // kafkajs' admin needs it to know the leader
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '5' }] });
    const second = await collect(kafka, { groupId, topics: [topic] });
    await eventually(() => second.records.length === 2);
    expect(second.values()).toEqual(['5', '6']);
    await second.source.stop({ deadlineMs: 1_000 });
  });

  it('notices partitions that are added later, and reads them from their beginning', async () => {
    const topic = await newTopic(kafka, 1);
    const { source, records } = await collect(kafka, { groupId: randomName('group'), topics: [topic] });
    await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] });
    const late = await openSink({ kafka });
    await eventually(() =>
      late.send({ topic, partition: 1, value: 'late' }, { deadlineMs: 2_000 }).then(() => true),
    );
    await eventually(() => records.length === 1, { timeoutMs: 20_000 });
    await late.close();
    await source.stop({ deadlineMs: 1_000 });
  });

  it('[a retriable crash restarts for ever with green health checks] does not open without a broker, and ends after `fatalAfterMs`', async () => {
    const nowhere = kafkaAt(['127.0.0.1:1']);
    const fatal: Error[] = [];
    const options = {
      kafka: nowhere,
      groupId: randomName('group'),
      topics: ['any'],
      window: { maxInFlight: 1, maxInFlightBytes: 1 },
      handle: () => Promise.resolve(),
      onFatal: (error: Error) => fatal.push(error),
    };
    await expect(openSource({ ...options, fatalAfterMs: 1_000 })).rejects.toThrow(/ECONNREFUSED/);
    expect(fatal).toHaveLength(1);
  });
});
