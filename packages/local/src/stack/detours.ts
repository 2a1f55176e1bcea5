import type { Detour } from '../kafka/broker-properties.js';
import type { KafkaEngine } from '../kafka/kafka-engine.js';
import type { MongoEngine } from '../mongo/mongo-engine.js';

/**
 * Connections of the services to the engines that lead through a proxy, which a test can cut. The test itself connects to
 * the engines directly.
 */
export interface Detours {
  /** By service; a service that is not named connects to the broker directly. */
  readonly kafka: Readonly<Record<string, Detour>>;
  /** Takes the database's port and returns the proxy's, both at 127.0.0.1. */
  readonly mongodb: (port: number) => number;
}

export const kafkaDetours = (detours: Detours | undefined): readonly Detour[] =>
  Object.values(detours?.kafka ?? {});

/** `host:port` at which this service finds the broker. */
export function brokersOf(
  service: string,
  kafka: KafkaEngine,
  detours: Detours | undefined,
): readonly string[] {
  const detour = detours?.kafka[service];
  return detour ? [`127.0.0.1:${detour.advertisedPort}`] : kafka.brokers;
}

/** The connection string with which the services find this database. */
export function mongoUriOf(database: string, mongo: MongoEngine, detours: Detours | undefined): string {
  const uri = new URL(mongo.uri(database));
  if (detours) uri.port = String(detours.mongodb(Number(uri.port)));
  return uri.href;
}
