import { testKafkaBrokers } from '@webhooks/local';
import { eventually, randomName } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import { findWaiting } from '../../../src/bench/world/run.js';

const brokers = testKafkaBrokers();
const kafka = new kafkajs.Kafka({ clientId: 'test', brokers, logLevel: kafkajs.logLevel.NOTHING });

describe('findWaiting', () => {
  const topics = [randomName('tier-a'), randomName('tier-b')];
  const place = { topics, groupPrefix: randomName('worker') };
  const [first = '', second = ''] = topics;

  beforeAll(async () => {
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({
      waitForLeaders: false,
      topics: topics.map((topic) => ({ topic, numPartitions: 2 })),
    });
    const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    const task = (partition: number, id: string) => ({
      partition,
      value: 'body',
      headers: { 'delivery-id': id },
    });
    await producer.send({
      topic: first,
      messages: [task(0, 'handled'), task(0, 'also-handled'), task(0, 'waiting-1'), task(1, 'waiting-2')],
    });
    await producer.send({ topic: second, messages: [task(1, 'waiting-3')] });
    await producer.disconnect();
    // What a worker has handled: the first two records of one partition. On a busy machine kafkajs' `setOffsets` resolves
    // although nothing was committed.
    const groupId = `${place.groupPrefix}.retries`;
    await eventually(async () => {
      await admin.setOffsets({ groupId, topic: first, partitions: [{ partition: 0, offset: '2' }] });
      const [found] = await admin.fetchOffsets({ groupId, topics: [first] });
      return found?.partitions.find(({ partition }) => partition === 0)?.offset === '2';
    });
    await admin.disconnect();
  });

  it('finds what lies beyond what the workers have handled, in every topic and partition', async () => {
    const waiting = await findWaiting(brokers, place);
    expect([...waiting].sort()).toEqual(['waiting-1', 'waiting-2', 'waiting-3']);
  });
});
