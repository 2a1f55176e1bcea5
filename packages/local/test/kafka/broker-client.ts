import { randomUUID } from 'node:crypto';
import type { Admin, Kafka } from 'kafkajs';
import { createUnloggedKafka } from '../../src/kafka/broker-process.js';
import { untilClear } from '../../src/engine/wait.js';

/** A kafkajs client with retries, so that a coordinator that is still loading does not fail a test. */
export const clientOf = (brokers: readonly string[]): Kafka => createUnloggedKafka(brokers, 20);

async function inAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Makes a topic with a random name, one partition and these settings. */
export async function makeTopic(
  kafka: Kafka,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const topic = `engines-${randomUUID()}`;
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  await inAdmin(kafka, async (admin) => {
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1, configEntries }] });
    const look = async () => {
      const partitions = await admin.fetchTopicOffsets(topic).catch(() => []);
      return partitions.length === 1 ? undefined : `${topic} did not appear`;
    };
    const obstacle = await untilClear(look, { deadlineMs: 10_000 });
    if (obstacle !== undefined) throw new Error(obstacle);
  });
  return topic;
}

/** Produces one message for each value, acknowledged by all replicas. */
export async function produce(kafka: Kafka, topic: string, values: readonly string[]): Promise<void> {
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    await producer.send({ topic, acks: -1, messages: values.map((value) => ({ key: 'k', value })) });
  } finally {
    await producer.disconnect();
  }
}

/** Reads the first `count` values of a topic, as a group of its own. */
export async function consume(kafka: Kafka, topic: string, count: number): Promise<string[]> {
  const consumer = kafka.consumer({ groupId: `engines-${randomUUID()}`, maxWaitTimeInMs: 100 });
  const values: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      values.push(message.value?.toString() ?? '');
      return Promise.resolve();
    },
  });
  const look = () =>
    Promise.resolve(values.length < count ? `expected ${count} messages, came ${values.length}` : undefined);
  const obstacle = await untilClear(look, { deadlineMs: 20_000 });
  await consumer.disconnect();
  if (obstacle !== undefined) throw new Error(obstacle);
  return values;
}
