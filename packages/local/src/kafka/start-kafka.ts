import { resolve } from 'node:path';
import { namedAddress } from '../engine/named-address.js';
import { startEmbeddedKafka } from './embedded-kafka.js';
import { useKafkaAddress } from './kafka-address.js';
import type { KafkaEngine, KafkaOptions } from './kafka-engine.js';

/**
 * Makes a Kafka available: the cluster named by KAFKA_BROKERS, otherwise a real Apache Kafka as a child process. Says which
 * through `log`. Throws an error that names the ways out.
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaEngine> {
  const log = options.log ?? (() => undefined);
  const address = namedAddress('KAFKA_BROKERS');
  if (address !== undefined) {
    log(`Kafka: the cluster at ${address} (KAFKA_BROKERS)`);
    return useKafkaAddress(address);
  }
  const kafka = await startEmbeddedKafka({ ...options, log, dataDir: resolve(options.dataDir) });
  log(`Kafka: embedded Apache Kafka at ${kafka.brokers.join(',')}`);
  return kafka;
}
