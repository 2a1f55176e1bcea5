import { TOPICS } from '@webhooks/contracts';
import { createPaymentProducer } from '@webhooks/ledger';
import type { Door } from './door.js';

/** Straight to the topic, keyed by the end-to-end id, acks=all. */
export async function openTopicDoor(brokers: readonly string[]): Promise<Door> {
  const producer = createPaymentProducer(brokers, 'bench-payment-system');
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
