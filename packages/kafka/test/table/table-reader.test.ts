import { jest } from '@jest/globals';
import { ConfigResourceTypes, Kafka as Kafkajs, logLevel } from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import { eventually, randomName } from '@webhooks/testkit';
import { createKafka, ensureTopics, fetchEndOffsets, openSink, openTableReader } from '../../src/index.js';
import type { KafkaRecord, Sink } from '../../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from '../support/cluster.js';
import { itWithForeign, produceForeign, TRANSACTIONS } from '../support/foreign-producer.js';
import { openTransaction } from '../support/open-transaction.js';

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
  await Promise.all(Object.entries(entries).map(([key, value]) => sink.send({ topic, key, value })));
}

/** Reads a topic into a map, the last value of each key. */
function openTable(topic: string, reader = kafka) {
  const rows = new Map<string, string>();
  const onRecord = ({ key, value }: KafkaRecord) => {
    rows.set(String(key), String(value));
  };
  return { rows, reader: openTableReader({ kafka: reader, topic, onRecord }) };
}

describe('table reader', () => {
  it('reads the whole topic in order, reports when it has, and continues', async () => {
    const topic = await newTopic(kafka, 4, COMPACT);
    await Promise.all(
      Array.from({ length: 3_000 }, (_, n) => sink.send({ topic, key: `key-${n % 100}`, value: `${n}` })),
    );
    const { rows, reader } = openTable(topic);
    await reader.whenFresh();
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
    const { reader } = openTable(topic, own);
    await reader.whenFresh();
    const { groups } = await admin.listGroups();
    const described = await admin.describeGroups(groups.map(({ groupId }) => groupId));
    const members = described.groups.flatMap((group) => group.members.map(({ clientId }) => clientId));
    expect(members).not.toContain(own.clientId);
    expect(groups.map(({ groupId }) => groupId).filter((id) => id.includes(own.clientId))).toEqual([]);
    await reader.close();
    await own.close();
  });

  it('stays fresh while idle', async () => {
    const topic = await newTopic(kafka, 4, COMPACT);
    const { reader } = openTable(topic);
    expect(reader.isFresh()).toBe(false);
    await reader.whenFresh();
    const end = performance.now() + 2_500;
    await eventually(
      () => {
        expect(reader.isFresh()).toBe(true);
        return performance.now() > end;
      },
      { intervalMs: 5 },
    );
    await reader.close();
  });

  it('catches up with what was published before the call', async () => {
    const topic = await newTopic(kafka, 4, COMPACT);
    const { rows, reader } = openTable(topic);
    for (let n = 0; n < 20; n += 1) {
      await put(topic, { [`key-${n % 8}`]: `${n}` });
      await reader.catchUp();
      expect(rows.get(`key-${n % 8}`)).toBe(`${n}`);
    }
    await reader.close();
  });

  it('requests the ends once for all calls before the request begins, and again for later calls', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    const { reader } = openTable(topic);
    await reader.whenFresh();
    const held = Promise.withResolvers<undefined>();
    const begun = jest.spyOn(Cluster.prototype, 'refreshMetadata').mockReturnValueOnce(held.promise);
    const requests = jest.spyOn(Cluster.prototype, 'fetchTopicsOffset');
    const earlier = Array.from({ length: 100 }, () => reader.catchUp());
    await eventually(() => begun.mock.calls.length > 0);
    const later = Array.from({ length: 100 }, () => reader.catchUp());
    held.resolve(undefined);
    await Promise.all([...earlier, ...later]);
    expect(requests).toHaveBeenCalledTimes(2);
    jest.restoreAllMocks();
    await reader.close();
  });

  itWithForeign('catches up past the markers of transactions', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    await put(topic, { a: '1' });
    const { reader } = openTable(topic);
    await produceForeign(TRANSACTIONS, [kafka.brokers.join(), topic, randomName('tx'), 'c1', 'a2']);
    // The broker writes the marker of a transaction once its end has been acknowledged.
    await eventually(async () => (await fetchEndOffsets(kafka, topic)).get(0) === 6);
    await reader.catchUp();
    await reader.close();
  });

  it('reads on behind the open transaction of a foreign producer, and catches up there', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    await put(topic, { a: '1' });
    const { rows, reader } = openTable(topic);
    await reader.whenFresh();
    const abort = await openTransaction(kafka.brokers, { topic, key: 'stranger', value: 'open' });
    await put(topic, { a: 'disabled' });
    await reader.catchUp();
    expect(rows.get('a')).toBe('disabled');
    expect(reader.isFresh()).toBe(true);
    await abort();
    await reader.close();
  });

  it('reads partitions that are added later, and is not fresh before', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    const { rows, reader } = openTable(topic);
    await reader.whenFresh();
    await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
    const late = await openSink({ kafka });
    await eventually(() =>
      late.send({ topic, partition: 2, key: 'late', value: 'here' }, { deadlineMs: 2_000 }).then(() => true),
    );
    await reader.catchUp();
    expect(rows.get('late')).toBe('here');
    await late.close();
    await reader.close();
  });

  it('waits for a topic that does not exist yet, and for a broker that is down', async () => {
    const topic = randomName('table');
    const { reader } = openTable(topic);
    const { reader: nowhere } = openTable(topic, kafkaAt(['127.0.0.1:1']));
    await admin.createTopics({
      topics: [{ topic, configEntries: [{ name: 'cleanup.policy', value: 'compact' }] }],
      waitForLeaders: false,
    });
    await reader.whenFresh();
    expect(nowhere.isFresh()).toBe(false);
    const waiting = nowhere.whenFresh();
    await nowhere.close();
    await expect(waiting).rejects.toThrow(/closed/);
    await expect(nowhere.whenFresh()).rejects.toThrow(/closed/);
    await reader.close();
  });

  /** What a reader has given since it began, or began again. */
  function openRows(topic: string) {
    const rows = new Map<string, string>();
    const reader = openTableReader({
      kafka,
      topic,
      onRecord: ({ key, value }) => void rows.set(String(key), String(value)),
      onRestart: () => rows.clear(),
    });
    return { reader, rows };
  }

  it('reports a topic that was made anew, and reads all of it', async () => {
    const topic = await newTopic(kafka, 4, COMPACT);
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => sink.send({ topic, key: `${n}`, value: 'before' })),
    );
    const { reader, rows } = openRows(topic);
    await reader.whenFresh();
    expect(rows.size).toBe(40);
    await admin.deleteTopics({ topics: [topic] });
    await ensureTopics(kafka, [{ name: topic, partitions: 2, replicationFactor: 1, configs: COMPACT }]);
    await eventually(() => rows.size === 0, { timeoutMs: 20_000 });
    const late = await openSink({ kafka });
    await eventually(() =>
      late.send({ topic, key: 'a', value: 'after' }, { deadlineMs: 2_000 }).then(() => true),
    );
    await reader.catchUp();
    expect([...rows]).toEqual([['a', 'after']]);
    await reader.whenFresh();
    await late.close();
    await reader.close();
  });

  it('reports that Kafka deleted records, although no offset is out of range', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    await put(topic, { a: '1', b: '2' });
    const { reader, rows } = openRows(topic);
    await reader.whenFresh();
    expect(rows.size).toBe(2);
    const policy = async (value: string): Promise<void> => {
      const configEntries = [{ name: 'cleanup.policy', value }];
      const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }];
      await admin.alterConfigs({ resources, validateOnly: false });
    };
    await policy('delete');
    const partitions = [{ partition: 0, offset: '2' }];
    // The broker's leader takes up the policy a moment later.
    await eventually(() => admin.deleteTopicRecords({ topic, partitions }).then(() => true));
    await policy('compact');
    await eventually(() => rows.size === 0);
    await reader.close();
  });

  it('refuses a topic of which Kafka deletes records by their age', async () => {
    const topic = await newTopic(kafka, 1, { 'cleanup.policy': 'compact,delete' });
    const fatal = Promise.withResolvers<Error>();
    const reader = openTableReader({ kafka, topic, onRecord: () => undefined, onFatal: fatal.resolve });
    expect((await fatal.promise).message).toContain(`${topic} has cleanup.policy=compact,delete`);
    await expect(reader.whenFresh()).rejects.toThrow(/cleanup\.policy/);
    await reader.close();
  });

  it('continues behind a record that cannot be used', async () => {
    const topic = await newTopic(kafka, 1, COMPACT);
    await put(topic, { a: '1', b: '2' });
    const seen: string[] = [];
    const reader = openTableReader({
      kafka,
      topic,
      onRecord: ({ key }) => {
        seen.push(String(key));
        if (String(key) === 'a') throw new Error('unusable');
      },
    });
    await reader.whenFresh();
    expect(seen).toEqual(['a', 'b']);
    await reader.close();
  });
});
