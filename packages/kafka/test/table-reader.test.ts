import { performance } from 'node:perf_hooks';
import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { eventually, randomName } from '@webhooks/testkit';
import { createKafka, openSink, openTableReader, type KafkaRecord, type Sink } from '../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from './support/cluster.js';
import { foreignProducer, TRANSACTIONS } from './support/foreign-producer.js';

const kafka = sharedKafka();
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

const COMPACT = { 'cleanup.policy': 'compact' };

async function put(topic: string, entries: Record<string, string | null>): Promise<void> {
  await sink.sendMany(Object.entries(entries).map(([key, value]) => ({ topic, key, value })));
}

/** Reads a topic into a map, the last value of each key. */
async function openTable(topic: string, reader = kafka) {
  const rows = new Map<string, string>();
  const onRecord = ({ key, value }: KafkaRecord) => {
    rows.set(String(key), String(value));
  };
  return { rows, reader: await openTableReader({ kafka: reader, topic, onRecord }) };
}

describe('table reader', () => {
  it('reads the whole topic in order, tells when it has, and goes on', async () => {
    const topic = await newTopic(kafka, 4, COMPACT);
    await sink.sendMany(
      Array.from({ length: 3_000 }, (_, n) => ({ topic, key: `key-${n % 100}`, value: `${n}` })),
    );
    const { rows, reader } = await openTable(topic);
    await reader.caughtUp;
    expect(rows.size).toBe(100);
    for (let n = 2_900; n < 3_000; n += 1) expect(rows.get(`key-${n % 100}`)).toBe(`${n}`);
    await put(topic, { 'key-7': 'changed', 'key-8': null });
    await eventually(() => rows.get('key-7') === 'changed' && rows.get('key-8') === 'null', {
      timeoutMs: 1_000,
    });
    await reader.close();
  });

  it('is caught up at once on an empty topic, and leaves no consumer group behind', async () => {
    const topic = await newTopic(kafka, 2, COMPACT);
    // A name of its own: other tests have groups on this broker too.
    const own = createKafka({ brokers: kafka.brokers, clientId: randomName('groupless') });
    const { reader } = await openTable(topic, own);
    await reader.caughtUp;
    const { groups } = await admin.listGroups();
    const described = await admin.describeGroups(groups.map(({ groupId }) => groupId));
    const members = described.groups.flatMap((group) => group.members.map(({ clientId }) => clientId));
    expect(members).not.toContain(own.clientId);
    expect(groups.map(({ groupId }) => groupId).filter((id) => id.includes(own.clientId))).toEqual([]);
    await reader.close();
    await own.close();
  });

  it('stays fresh while idle: never older than 700 ms', async () => {
    const topic = await newTopic(kafka, 4, COMPACT);
    const { reader } = await openTable(topic);
    expect(reader.freshAt()).toBe(-Infinity);
    await reader.caughtUp;
    await eventually(() => performance.now() - reader.freshAt() <= 700);
    const end = performance.now() + 2_500;
    let oldest = 0;
    await eventually(
      () => {
        oldest = Math.max(oldest, performance.now() - reader.freshAt());
        return performance.now() > end;
      },
      { intervalMs: 5 },
    );
    expect(oldest).toBeLessThan(600);
    await reader.close();
  });

  it('knows whether it has passed end offsets, markers of transactions included', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    await put(topic, { a: '1' });
    const { reader } = await openTable(topic);
    expect(reader.passed(new Map([[0, 1]]))).toBe(false);
    await reader.caughtUp;
    expect(reader.passed(await reader.fetchEnds())).toBe(true);
    expect(reader.passed(new Map([[0, 2]]))).toBe(false);
    const run = await foreignProducer();
    await run?.(TRANSACTIONS, [kafka.brokers.join(), topic, randomName('tx'), 'c1', 'a2']);
    // The broker writes the marker of a transaction once its end has been acknowledged.
    await eventually(async () => (await reader.fetchEnds()).get(0) === (run ? 6 : 1));
    const ends = await reader.fetchEnds();
    await eventually(() => reader.passed(ends));
    expect(reader.positions()).toEqual(ends);
    await reader.close();
  });

  it('reads partitions that are added later, and is not fresh before', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    const { rows, reader } = await openTable(topic);
    await reader.caughtUp;
    await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
    const late = await openSink({ kafka });
    await eventually(() =>
      late.send({ topic, partition: 2, key: 'late', value: 'here' }, { deadlineMs: 2_000 }).then(() => true),
    );
    const writtenAt = performance.now();
    await eventually(() => reader.freshAt() > writtenAt);
    expect(rows.get('late')).toBe('here');
    await late.close();
    await reader.close();
  });

  it('waits for a topic that does not exist yet, and for a broker that is away', async () => {
    const topic = randomName('table');
    const { reader } = await openTable(topic);
    const { reader: nowhere } = await openTable(topic, kafkaAt(['127.0.0.1:1']));
    await admin.createTopics({
      topics: [{ topic, numPartitions: 1, replicationFactor: 1 }],
      waitForLeaders: false,
    });
    await reader.caughtUp;
    expect(nowhere.freshAt()).toBe(-Infinity);
    await reader.close();
    await nowhere.close();
    await expect(nowhere.caughtUp).rejects.toThrow(/closed/);
  });

  it('goes on when a record cannot be used', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    await put(topic, { a: '1', b: '2' });
    const seen: string[] = [];
    const reader = await openTableReader({
      kafka,
      topic,
      onRecord: ({ key }) => {
        seen.push(String(key));
        if (String(key) === 'a') throw new Error('unusable');
      },
    });
    await reader.caughtUp;
    expect(seen).toEqual(['a', 'b']);
    await reader.close();
  });
});
