/** Where an engine comes from: named by the environment, a container, or a child process of ours. */
export type EngineKind = 'address' | 'container' | 'embedded';

/** The order of choice: an address in the environment, then `ENGINES=containers`, then the embedded engine. */
export function chooseEngine(
  env: NodeJS.ProcessEnv,
  addressVariable: 'KAFKA_BROKERS' | 'MONGODB_URI',
): { kind: 'address'; address: string } | { kind: 'container' | 'embedded' } {
  const setting = (name: string): string => env[name]?.trim() ?? '';
  const address = setting(addressVariable);
  if (address !== '') return { kind: 'address', address };
  const wanted = setting('ENGINES');
  if (wanted === 'containers') return { kind: 'container' };
  if (wanted === '' || wanted === 'embedded') return { kind: 'embedded' };
  throw new Error(`ENGINES: expected "containers" or "embedded", came "${wanted}"`);
}
