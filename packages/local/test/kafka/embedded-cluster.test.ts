import { startKafkaCluster, type KafkaCluster } from '../../src/kafka/embedded-cluster.js';
import { createUnloggedKafka } from '../../src/kafka/broker-process.js';
import { untilClear } from '../../src/engine/wait.js';
import { scratchFolders } from '../scratch-folder.js';
import { clientOf, consume, makeTopic, produce } from './broker-client.js';

const WAIT = { deadlineMs: 30_000, everyMs: 100 };
/** Tries of 250 ms at most: half a minute, for the others to notice that a node is gone and to elect another leader. */
const RETRIES = 120;

/** What a topic holds, each value once: a client that tried again may have written it twice, which Kafka allows. */
const distinct = (values: readonly string[]): string[] => [...new Set(values)];

describe('the embedded cluster', () => {
  let cluster: KafkaCluster;
  afterAll(() => cluster.stop());
  const scratch = scratchFolders();
  beforeAll(async () => {
    cluster = await startKafkaCluster({ dataDir: await scratch() });
  });

  /** Node ids of the copies of a topic that are in step. */
  async function inStep(topic: string): Promise<string> {
    const admin = clientOf(cluster.brokers).admin();
    await admin.connect();
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return String(topics.flatMap(({ partitions }) => partitions.flatMap(({ isr }) => isr)).sort());
    } finally {
      await admin.disconnect();
    }
  }

  async function untilInStep(topic: string, expected: string): Promise<void> {
    const look = async () => {
      const seen = await inStep(topic);
      return seen === expected ? undefined : `expected ${expected} in step, came ${seen}`;
    };
    const obstacle = await untilClear(look, WAIT);
    if (obstacle !== undefined) throw new Error(obstacle);
  }

  it('keeps three copies, goes on without one node where two copies are enough, and takes it back', async () => {
    const topic = await makeTopic(clientOf(cluster.brokers));
    const strict = await makeTopic(clientOf(cluster.brokers), { 'min.insync.replicas': '3' });
    await produce(clientOf(cluster.brokers), strict, ['before']);
    await untilInStep(topic, '1,2,3');
    const [first] = cluster.nodes;
    const address = first?.address;
    first?.kill();
    await produce(createUnloggedKafka(cluster.brokers.slice(1), RETRIES), topic, ['with two']);
    await untilInStep(strict, '2,3');
    await expect(
      produce(createUnloggedKafka(cluster.brokers.slice(1), 2), strict, ['refused']),
    ).rejects.toThrow(/fewer in-sync replicas/);
    await first?.restart();
    expect(first?.address).toBe(address);
    await untilInStep(topic, '1,2,3');
    await untilInStep(strict, '1,2,3');
    await produce(createUnloggedKafka(cluster.brokers, RETRIES), strict, ['after']);
    expect(distinct(await consume(clientOf(cluster.brokers), topic, 1))).toEqual(['with two']);
    expect(distinct(await consume(clientOf(cluster.brokers), strict, 2))).toEqual(['before', 'after']);
  });

  it('lets a node leave in order', async () => {
    const topic = await makeTopic(clientOf(cluster.brokers));
    const [, second] = cluster.nodes;
    await second?.stop();
    expect(second?.pid).toBeUndefined();
    await produce(createUnloggedKafka(cluster.brokers, RETRIES), topic, ['kept']);
    expect(distinct(await consume(clientOf(cluster.brokers), topic, 1))).toEqual(['kept']);
  });
});
