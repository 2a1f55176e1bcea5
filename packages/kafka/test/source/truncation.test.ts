import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { eventually, randomName } from '@webhooks/testkit';
import { ensureTopics, type KafkaRecord } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka } from '../support/cluster.js';
import { collect } from '../support/collect.js';
import { committed } from '../support/committed.js';

const DAY_MS = 86_400_000;
const kafka = sharedKafka();
const client = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
const [admin, producer] = [client.admin(), client.producer()];
beforeAll(() => Promise.all([admin.connect(), producer.connect()]));
afterAll(async () => {
  await Promise.all([admin.disconnect(), producer.disconnect()]);
  await closeAll();
});

const values = (records: readonly KafkaRecord[]) => records.map(({ value }) => String(value));

/** Writes values with their times (Unix milliseconds). */
const write = (topic: string, entries: Record<string, number>) =>
  producer.send({
    topic,
    messages: Object.entries(entries).map(([value, at]) => ({ value, timestamp: `${at}`, partition: 0 })),
  });

/** What a group had committed before the log lost its end. */
async function commitBeyond(groupId: string, topic: string, offset: number, metadata: string): Promise<void> {
  const connections = kafka.openConnections(10_000);
  await connections.cluster.connect();
  const coordinator = await connections.cluster.findGroupCoordinator({ groupId });
  const topics = [
    { topic, partitions: [{ partition: 0, offset: `${offset}`, metadata: metadata && `:${metadata}` }] },
  ];
  await coordinator.offsetCommit({ groupId, groupGenerationId: -1, memberId: '', topics });
  await connections.close();
}

describe('a log that ends before what the group has committed', () => {
  it('is read from the time of the last position, so that records of earlier days are not repeated', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    const at = Date.now() - 10_000;
    await write(topic, { old: at - 3 * DAY_MS, older: at - 2 * DAY_MS, last: at - 30_000, new: at + 1_000 });
    await commitBeyond(groupId, topic, 1_000, `${at}`);
    const { source, records } = await collect(kafka, { groupId, topics: [topic] });
    await eventually(() => records.length === 2);
    await write(topic, { newer: Date.now() });
    await eventually(() => records.length === 3);
    expect(values(records)).toEqual(['last', 'new', 'newer']);
    await eventually(async () => (await committed(kafka, groupId, topic)).get(0) === 5);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('is read from its end when nothing was appended since', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    await write(topic, { old: Date.now() - DAY_MS });
    await commitBeyond(groupId, topic, 1_000, `${Date.now()}`);
    const { source, records } = await collect(kafka, { groupId, topics: [topic] });
    await eventually(async () => (await committed(kafka, groupId, topic)).get(0) === 1);
    await write(topic, { new: Date.now() });
    await eventually(() => records.length === 1);
    expect(values(records)).toEqual(['new']);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('is read from its beginning when the time of the last position is unknown', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    await write(topic, { old: Date.now() - DAY_MS });
    await commitBeyond(groupId, topic, 1_000, '');
    const { source, records } = await collect(kafka, { groupId, topics: [topic] });
    await eventually(() => records.length === 1);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('is read from its beginning when the topic was made anew, whatever times its records have', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    const now = Date.now();
    await write(topic, { a: now, b: now, c: now, d: now });
    const { source, records } = await collect(kafka, { groupId, topics: [topic] });
    await eventually(async () => (await committed(kafka, groupId, topic)).get(0) === 4);
    await admin.deleteTopics({ topics: [topic] });
    await ensureTopics(kafka, [{ name: topic, partitions: 1, replicationFactor: 1, configs: {} }]);
    await eventually(() => write(topic, { e: now - 3 * DAY_MS, f: now - 2 * DAY_MS }).then(() => true));
    await eventually(() => records.length === 6, { timeoutMs: 20_000 });
    expect(values(records)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('has the time of each position in the commit’s metadata', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    const at = Date.now() - 5_000;
    await write(topic, { a: at - 1_000, b: at });
    const { source, records } = await collect(kafka, { groupId, topics: [topic] });
    await eventually(() => records.length === 2);
    await source.stop({ deadlineMs: 1_000 });
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
    expect(found?.partitions[0]).toMatchObject({ offset: '2', metadata: `:${at}` });
  });
});
