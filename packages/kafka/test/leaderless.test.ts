import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafkaCluster } from '@webhooks/local';
import type { KafkaCluster } from '@webhooks/local';
import { eventually, randomName } from '@webhooks/testkit';
import { ensureTopics, openSink, type Kafka } from '../src/index.js';
import { closeAll, kafkaAt } from './support/cluster.js';

/** One copy of each partition, one partition on each node: a node that is away leaves its partition without a leader. */
const spec = { name: randomName('leaderless'), partitions: 3, replicationFactor: 1, configs: {} };

let dataDir: string;
let cluster: KafkaCluster;
let kafka: Kafka;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kafka-test-'));
  cluster = await startKafkaCluster({ dataDir });
  await ensureTopics(kafkaAt(cluster.brokers), [spec]);
  cluster.nodes[0]?.kill();
  kafka = kafkaAt(cluster.brokers.slice(1));
  await eventually(async () => (await leaders()).includes(-1), { timeoutMs: 30_000, intervalMs: 100 });
}, 120_000);
afterAll(async () => {
  await closeAll();
  await cluster.stop();
  await rm(dataDir, { recursive: true, force: true });
}, 30_000);

/** Of each partition, in order. */
async function leaders(): Promise<number[]> {
  const broker = await kafka.adminConnections.cluster.brokerPool.findConnectedBroker();
  const { topicMetadata } = await broker.metadata([spec.name]);
  const partitions = topicMetadata[0]?.partitionMetadata ?? [];
  return partitions.toSorted((a, b) => a.partitionId - b.partitionId).map(({ leader }) => leader);
}

describe('[kafkajs refuses all metadata when one partition has no leader]', () => {
  it('a sink writes to the other partitions, and only records for that one time out', async () => {
    const sink = await openSink({ kafka });
    const outcomes = await Promise.allSettled(
      (await leaders()).map((leader, partition) =>
        sink.send({ topic: spec.name, partition, value: `${leader}` }, { deadlineMs: 5_000 }),
      ),
    );
    const failed = outcomes.map(
      (outcome) => outcome.status === 'rejected' && /no acknowledgement in time/.test(String(outcome.reason)),
    );
    expect(failed).toEqual((await leaders()).map((leader) => leader < 0));
    await sink.close();
  });

  it('ensureTopics resolves, because the topic exists', async () => {
    await ensureTopics(kafka, [spec], { deadlineMs: 5_000 });
    expect(await leaders()).toContain(-1);
  });
});
