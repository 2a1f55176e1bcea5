import { testKafkaBrokers } from '@webhooks/engines';
import { randomName } from '@webhooks/testkit';
import { createKafka, ensureTopics, type Kafka, type Logger } from '../../src/index.js';

const opened: Kafka[] = [];

/** A handle on the broker that the whole test run shares. */
export function sharedKafka(log?: Logger): Kafka {
  return kafkaAt(testKafkaBrokers(), log);
}

export function kafkaAt(brokers: readonly string[], log?: Logger): Kafka {
  const kafka = createKafka({ brokers, clientId: 'kafka-test', ...(log ? { log } : {}) });
  opened.push(kafka);
  return kafka;
}

export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((kafka) => kafka.close()));
}

/** A topic of our own; returns its name. */
export async function newTopic(
  kafka: Kafka,
  partitions = 1,
  configs: Record<string, string> = {},
): Promise<string> {
  const name = randomName('kafka-test');
  await ensureTopics(kafka, [{ name, partitions, replicationFactor: 1, configs }]);
  return name;
}
