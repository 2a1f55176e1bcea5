import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import type { Kafka } from '../../src/index.js';

/** What a group has committed on a topic, by partition; -1 for nothing. Asked through kafkajs' own admin client. */
export async function committed(kafka: Kafka, groupId: string, topic: string): Promise<Map<number, number>> {
  const admin = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  } finally {
    await admin.disconnect();
  }
}
