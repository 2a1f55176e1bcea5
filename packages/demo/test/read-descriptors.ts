import { join } from 'node:path';

/** What the settings reader of `@webhooks/runtime` notes of a setting. */
export interface Descriptor {
  readonly type: string;
  readonly fallback?: string | number | boolean | readonly string[];
  readonly isRequired: boolean;
}

interface Reader {
  readonly descriptors: ReadonlyMap<string, Descriptor>;
}

type Runtime = {
  readonly SettingsReader: new (env: Readonly<Record<string, string>>) => Reader;
  readonly readProcessSettings: (reader: Reader) => unknown;
};

/** Reading these makes the readers look at every other setting, too. */
const ALL = { KAFKA_TLS: 'true', KAFKA_SASL_MECHANISM: 'oauthbearer' };

const load = (...path: string[]): Promise<Record<string, unknown>> =>
  import(join(import.meta.dirname, '..', '..', '..', ...path)) as Promise<Record<string, unknown>>;

/** The settings that a service reads, as its own reader describes them. The service must be built. */
export async function readDescriptors(service: string): Promise<ReadonlyMap<string, Descriptor>> {
  const runtime = (await load('packages', 'runtime', 'dist', 'src', 'index.js')) as Runtime;
  const config = await load('services', service, 'dist', 'src', 'config.js');
  const reader = new runtime.SettingsReader(ALL);
  runtime.readProcessSettings(reader);
  const [, readConfig] = Object.entries(config).find(([name]) => /^read\w*Config$/.test(name)) ?? [];
  if (readConfig === undefined) throw new Error(`expected a reader of settings in ${service}`);
  (readConfig as (reader: Reader) => unknown)(reader);
  return reader.descriptors;
}
