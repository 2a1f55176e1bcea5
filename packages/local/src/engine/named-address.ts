/** Where an engine comes from: named by the environment, or a child process of ours. */
export type EngineKind = 'address' | 'embedded';

/** The address that this variable of the environment names; undefined when it is not set or empty. */
export function namedAddress(variable: 'KAFKA_BROKERS' | 'MONGODB_URI'): string | undefined {
  const address = process.env[variable]?.trim() ?? '';
  return address === '' ? undefined : address;
}
