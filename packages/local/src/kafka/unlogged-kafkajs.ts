import { Kafka, logLevel } from 'kafkajs';

/** A kafkajs client for questions to a broker that may not be there yet: few retries, no log. */
export const createUnloggedKafka = (brokers: readonly string[], retries = 0): Kafka =>
  new Kafka({
    clientId: 'engines',
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    retry: { retries, initialRetryTime: 50, maxRetryTime: 250 },
  });
