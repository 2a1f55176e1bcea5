import type { KafkaEngine } from './kafka-engine.js';

/** Filled in below. */
export function startKafkaContainer(): Promise<KafkaEngine> {
  return Promise.reject(new Error('ENGINES=containers: not there yet'));
}
