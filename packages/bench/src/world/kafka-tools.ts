import kafkajs from 'kafkajs';
import type { Kafka, Message } from 'kafkajs';

/** A client that says nothing; connected by what is opened on it. */
export const benchKafka = (brokers: readonly string[]): Kafka =>
  new kafkajs.Kafka({ clientId: 'bench', brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });

/** How many records a topic has got so far. */
export async function countRecords(brokers: readonly string[], topic: string): Promise<number> {
  const admin = benchKafka(brokers).admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets.reduce((sum, { high }) => sum + Number(high), 0);
  } finally {
    await admin.disconnect();
  }
}

const BATCH = 2_000;

/** Writes records made one after the other to a topic, acks=all, so many in one request (default 2,000). */
export async function fillTopic(
  brokers: readonly string[],
  topic: string,
  messages: Iterable<Message>,
  atOnce = BATCH,
): Promise<void> {
  const producer = benchKafka(brokers).producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  try {
    let batch: Message[] = [];
    for (const message of messages) {
      batch.push(message);
      if (batch.length < atOnce) continue;
      await producer.send({ topic, acks: -1, messages: batch });
      batch = [];
    }
    if (batch.length > 0) await producer.send({ topic, acks: -1, messages: batch });
  } finally {
    await producer.disconnect();
  }
}
