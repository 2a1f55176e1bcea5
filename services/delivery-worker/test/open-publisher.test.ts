import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPICS } from '@webhooks/contracts';
import { createKafka, ensureTopics } from '@webhooks/kafka';
import { startKafkaCluster } from '@webhooks/local';
import { HealthBoard } from '@webhooks/runtime';
import { eventually, randomName } from '@webhooks/testkit';
import { openPublisher } from '../src/publish/publisher.js';

const LONG = { timeoutMs: 60_000 };

it('a worker is live while Kafka refuses its writes for lack of replicas, because a restart would repeat all attempts', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'publisher-'));
  const cluster = await startKafkaCluster({ dataDir });
  const kafka = createKafka({ brokers: cluster.brokers, clientId: randomName('publisher') });
  const configs = { 'min.insync.replicas': '3' };
  await ensureTopics(kafka, [{ name: TOPICS.attempts, partitions: 1, replicationFactor: 3, configs }]);
  const health = new HealthBoard();
  health.liveness('source', () => 'no progress');
  const closers: (() => Promise<void>)[] = [];
  const onClose = (_: string, close: () => Promise<void>): void => void closers.push(close);
  const publish = await openPublisher(
    kafka,
    { health, onClose, log: { warn: () => undefined } } as never,
    () => [],
  );
  await publish({ topic: TOPICS.attempts, key: 'a', value: '{}' });
  expect(health.isLive().ok).toBe(false);
  cluster.nodes[0]?.kill();
  const publishing = publish({ topic: TOPICS.attempts, key: 'a', value: '{}' }).catch(() => undefined);
  await eventually(
    () => expect(JSON.stringify(health.isReady().faults)).toContain('NOT_ENOUGH_REPLICAS'),
    LONG,
  );
  await eventually(() => expect(health.isLive().ok).toBe(true));
  for (const close of closers) await close();
  await publishing;
  await kafka.close();
  await cluster.stop();
  await rm(dataDir, { recursive: true, force: true });
}, 180_000);
