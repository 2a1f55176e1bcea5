import { TOPICS } from '@webhooks/contracts';
import kafkajs from 'kafkajs';
import type { Door } from './door.js';

/** Produces as any payment system could: a plain kafkajs producer, keyed by the end-to-end id, acks=all. */
export async function openTopicDoor(brokers: readonly string[]): Promise<Door> {
  const kafka = new kafkajs.Kafka({
    clientId: 'bench-payment-system',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return {
    acknowledges: true,
    // What a Kafka producer waits for company by default since Kafka 4 (linger.ms).
    lingerMs: 5,
    send: async (events) => {
      const messages = events.map(({ key, record }) => ({ key, value: record }));
      await producer.send({ topic: TOPICS.events, acks: -1, messages });
    },
    close: () => producer.disconnect(),
  };
}
