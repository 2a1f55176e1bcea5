import { resolve } from 'node:path';
import { chooseEngine } from '../engine-kind.js';
import { startEmbeddedKafka } from './embedded-kafka.js';
import { useKafkaAddress } from './kafka-address.js';
import { startKafkaContainer } from './kafka-container.js';
import type { KafkaEngine, KafkaOptions } from './kafka-engine.js';

/**
 * Makes a Kafka available: the cluster named by KAFKA_BROKERS, a container when ENGINES=containers, otherwise a real
 * Apache Kafka as a child process. Says which through `log`. Throws an error that names the ways out.
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaEngine> {
  const log = options.log ?? (() => undefined);
  const choice = chooseEngine(process.env, 'KAFKA_BROKERS');
  if (choice.kind === 'address') {
    log(`Kafka: the cluster at ${choice.address} (KAFKA_BROKERS)`);
    return useKafkaAddress(choice.address);
  }
  if (choice.kind === 'container') {
    log('Kafka: a container of apache/kafka (ENGINES=containers)');
    return startKafkaContainer(options.port);
  }
  const kafka = await startEmbeddedKafka({ ...options, log, dataDir: resolve(options.dataDir) });
  log(`Kafka: embedded Apache Kafka at ${kafka.brokers.join(',')}`);
  return kafka;
}
