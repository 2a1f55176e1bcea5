import kafkajs from 'kafkajs';
import type { Admin, Kafka, Producer } from 'kafkajs';

/** A plain kafkajs client that logs nothing. */
export const createKafkaClient = (brokers: readonly string[], clientId: string): Kafka =>
  new kafkajs.Kafka({ clientId, brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });

/** Does `work` with an admin client of its own. */
export async function withAdmin<T>(
  brokers: readonly string[],
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = createKafkaClient(brokers, 'proof').admin();
  await admin.connect();
  return work(admin).finally(() => admin.disconnect());
}

/** A producer as any payment system could have, with the default partitioner. Not connected yet. */
export const createPaymentProducer = (brokers: readonly string[], clientId: string): Producer =>
  createKafkaClient(brokers, clientId).producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
