import kafkajs from 'kafkajs';
import type { Producer } from 'kafkajs';

/** A producer as any payment system could have: a plain kafkajs client with the default partitioner. Not connected yet. */
export function createPaymentProducer(brokers: readonly string[], clientId: string): Producer {
  const kafka = new kafkajs.Kafka({
    clientId,
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  return kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
}
