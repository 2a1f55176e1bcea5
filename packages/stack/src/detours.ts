import type { Detour, KafkaEngine, MongoEngine } from '@webhooks/engines';

/**
 * Ways of the services to the engines that lead through somebody else, such as a proxy that can be cut. Whoever watches
 * the stack goes straight to the engines.
 */
export interface Detours {
  /** By service; one that is not named goes straight to the broker. */
  readonly kafka: Readonly<Record<string, Detour>>;
  /** The port at which the services find the database, told the port at which it really is, both at 127.0.0.1. */
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
