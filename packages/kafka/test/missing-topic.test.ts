import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { eventually, randomName } from '@webhooks/testkit';
import { ensureTopics } from '../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from './support/cluster.js';
import { collect } from './support/collect.js';

const kafka = sharedKafka();
const admin = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
beforeAll(() => admin.connect());
afterAll(async () => {
  await admin.disconnect();
  await closeAll();
});

const WAIT = { timeoutMs: 30_000 };

it('a source reads the topics that exist, names the missing one, and reads it when it comes', async () => {
  const topic = await newTopic(kafka);
  const missing = randomName('missing');
  const sink = await sinkOn(kafka);
  const { source, values } = await collect(kafka, { groupId: randomName('group'), topics: [topic, missing] });
  expect(source.missingTopics()).toEqual([missing]);
  await sink.send({ topic, key: 'a', value: 'exists' });
  await eventually(() => values().includes('exists'), WAIT);
  await ensureTopics(kafka, [{ name: missing, partitions: 1, replicationFactor: 1, configs: {} }]);
  await sink.send({ topic: missing, key: 'a', value: 'came' });
  await eventually(() => values().includes('came'), WAIT);
  expect(source.missingTopics()).toEqual([]);
  await admin.deleteTopics({ topics: [missing] });
  await eventually(() => source.missingTopics().includes(missing), WAIT);
  await sink.send({ topic, key: 'a', value: 'still' });
  await eventually(() => values().includes('still') && source.health().joined, WAIT);
  await source.stop({ deadlineMs: 1_000 });
});
