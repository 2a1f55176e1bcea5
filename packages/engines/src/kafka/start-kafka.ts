import { resolve } from 'node:path';
import { chooseEngine } from '../engine-kind.js';
import { awaitBroker } from './broker-ready.js';
import { startEmbeddedKafka } from './embedded-kafka.js';
import { startKafkaContainer } from './kafka-container.js';
import type { KafkaEngine, KafkaOptions } from './kafka-engine.js';

const ADDRESS_DEADLINE_MS = 15_000;

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

async function useKafkaAddress(addresses: string): Promise<KafkaEngine> {
  const brokers = addresses
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  const obstacles = await Promise.all(
    brokers.map((address) => awaitBroker(address, { deadlineMs: ADDRESS_DEADLINE_MS })),
  );
  if (!obstacles.includes(undefined)) {
    throw new Error(
      `KAFKA_BROKERS=${addresses}: no broker served within ${ADDRESS_DEADLINE_MS / 1_000} s ` +
        `(${obstacles.join('; ')}). Start the cluster, correct the address, ` +
        'or unset KAFKA_BROKERS to use the embedded broker.',
    );
  }
  const notOurs = () => {
    throw new Error('this Kafka is named by KAFKA_BROKERS: it was not started here, so it is not ended here');
  };
  return {
    kind: 'address',
    brokers,
    pid: undefined,
    stop: () => Promise.resolve(),
    kill: notOurs,
    restart: () => Promise.resolve().then(notOurs),
  };
}
