import { testKafkaBrokers } from '@webhooks/local';
import { eventually, randomName } from '@webhooks/testkit';
import { createKafka, openSource } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { committed } from '../support/committed.js';

const kafka = sharedKafka();
const sink = await sinkOn(kafka);
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await closeAll();
});

it('a source refuses a group whose records have another format, and reads one of its own format', async () => {
  const topic = await newTopic(kafka);
  const groupId = randomName('group');
  const openWith = async (format: string) => {
    const own = createKafka({ brokers: testKafkaBrokers(), clientId: randomName('format'), format });
    closing.push(() => own.close());
    const window = { maxInFlight: 10, maxInFlightBytes: 1_000_000 };
    return openSource({ kafka: own, groupId, topics: [topic], window, handle: () => Promise.resolve() });
  };
  const earlier = await openWith('1');
  await sink.send({ topic, partition: 0, value: 'a' });
  await eventually(async () => (await committed(kafka, groupId, topic)).get(0) === 1);
  await earlier.stop({ deadlineMs: 1_000 });

  await expect(openWith('2')).rejects.toThrow('records of another format: delete .data');
  await expect(openWith('1')).resolves.toBeDefined();
});
