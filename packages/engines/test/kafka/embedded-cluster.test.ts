import { startKafkaCluster, type KafkaCluster } from '../../src/kafka/embedded-cluster.js';
import { pollUntil } from '../../src/poll.js';
import { scratchFolders } from '../scratch-folder.js';
import { clientOf, consume, makeTopic, produce } from './broker-client.js';

const WAIT = { deadlineMs: 30_000, everyMs: 100 };

/** Node ids of the copies that are in step. */
async function inSync(brokers: readonly string[], topic: string): Promise<number[]> {
  const admin = clientOf(brokers).admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.flatMap(({ partitions }) => partitions.flatMap(({ isr }) => isr)).sort();
  } finally {
    await admin.disconnect();
  }
}

describe('the embedded cluster', () => {
  const scratch = scratchFolders();
  let cluster: KafkaCluster;
  beforeAll(async () => {
    cluster = await startKafkaCluster({ dataDir: await scratch() });
  });
  afterAll(() => cluster.stop());

  it('keeps three copies, goes on without one of its nodes, and takes it back', async () => {
    const topic = await makeTopic(clientOf(cluster.brokers));
    const untilInSync = async (expected: readonly number[]) => {
      let seen: number[] = [];
      const look = async () => String((seen = await inSync(cluster.brokers, topic))) === String(expected);
      if (!(await pollUntil(look, WAIT)))
        throw new Error(`expected copies in step ${String(expected)}, came ${String(seen)}`);
    };
    await untilInSync([1, 2, 3]);
    const [first, second] = cluster.nodes;
    if (!first || !second) throw new Error('expected three nodes');
    const address = first.address;
    first.kill();
    await produce(clientOf(cluster.brokers), topic, ['without the first']);
    await untilInSync([2, 3]);
    await first.restart();
    expect(first.address).toBe(address);
    await untilInSync([1, 2, 3]);
    await second.stop();
    expect(second.pid).toBeUndefined();
    await produce(clientOf(cluster.brokers), topic, ['without the second']);
    await second.restart();
    expect(await consume(clientOf(cluster.brokers), topic, 2)).toEqual([
      'without the first',
      'without the second',
    ]);
  });

  it('acknowledges nothing while fewer copies are in step than it takes, and nothing is lost', async () => {
    const topic = await makeTopic(clientOf(cluster.brokers), { 'min.insync.replicas': '3' });
    await produce(clientOf(cluster.brokers), topic, ['before']);
    const [first] = cluster.nodes;
    first?.kill();
    await pollUntil(async () => (await inSync(cluster.brokers, topic)).length === 2, WAIT);
    await expect(produce(clientOf(cluster.brokers.slice(1)), topic, ['refused'])).rejects.toThrow(
      /in-sync replicas/,
    );
    await first?.restart();
    await produce(clientOf(cluster.brokers), topic, ['after']);
    expect(await consume(clientOf(cluster.brokers), topic, 2)).toEqual(['before', 'after']);
  });
});
