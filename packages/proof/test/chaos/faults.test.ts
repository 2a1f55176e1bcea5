import { testKafkaBrokers } from '@webhooks/local';
import { randomName } from '@webhooks/testkit';
import { createKafkaClient, readUnhandled } from '@webhooks/testkit/account';
import { holdTransaction } from '../../src/chaos/faults.js';

const kafka = createKafkaClient(testKafkaBrokers(), 'kafka-tools-test');
const [admin, producer] = [kafka.admin(), kafka.producer()];
beforeAll(() => Promise.all([admin.connect(), producer.connect()]));
afterAll(() => Promise.all([admin.disconnect(), producer.disconnect()]));

it('readers pass over what a foreign producer left in an aborted transaction, even at the end of a topic', async () => {
  const topic = randomName('held');
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] });
  await producer.send({ topic, messages: [{ value: 'ours' }] });
  const abort = await holdTransaction(testKafkaBrokers(), topic);
  await abort();
  const values: string[] = [];
  await readUnhandled(testKafkaBrokers(), { topics: [topic] }, ({ message }) =>
    values.push(String(message.value)),
  );
  expect(values).toEqual(['ours']);
});
