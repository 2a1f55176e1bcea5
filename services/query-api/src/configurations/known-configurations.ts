import { configurationKey, parseConfigurationRecord } from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';

/** What a redelivery has to know of a configuration; its URL and secrets are the worker's. */
export type KnownConfiguration = Pick<
  ConfigurationRecord,
  'revision' | 'enabled' | 'eventType' | 'applicationId'
>;

const keep = ({ revision, enabled, eventType, applicationId }: ConfigurationRecord): KnownConfiguration => ({
  revision,
  enabled,
  eventType,
  ...(applicationId === undefined ? {} : { applicationId }),
});

/** The configurations of all tenants by key, as the topic tells them: about 150 bytes each. */
export class KnownConfigurations {
  readonly #byKey = new Map<string, KnownConfiguration>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get size(): number {
    return this.#byKey.size;
  }

  find(tenantId: string, ref: string): KnownConfiguration | undefined {
    return this.#byKey.get(configurationKey(tenantId, ref));
  }

  /** Applies a record of the topic if its revision is higher than the known one; never throws. */
  apply({ key, value, partition, offset }: KafkaRecord): void {
    if (value === null) return;
    const parsed = parseConfigurationRecord(value);
    if (!parsed.ok) {
      const fields = { key: key?.toString('utf8') ?? '', partition, offset, reason: parsed.reason };
      this.#log.error('a configuration record cannot be read', fields);
      return;
    }
    const { configuration } = parsed;
    const name = configurationKey(configuration.tenantId, configuration.ref);
    const known = this.#byKey.get(name);
    if (known === undefined || known.revision < configuration.revision) {
      this.#byKey.set(name, keep(configuration));
    }
  }
}
