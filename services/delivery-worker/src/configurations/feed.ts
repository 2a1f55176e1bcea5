import { parseConfigurationRecord } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import type { ConfigurationTable } from './table.js';
import { toConfiguration, toUnreadable } from './configuration.js';
import type { Configuration } from './configuration.js';

function read(
  value: Buffer,
  keyring: Keyring,
): { readonly configuration?: Configuration; readonly fault?: string } {
  const parsed = parseConfigurationRecord(value);
  if (!parsed.ok) {
    const { known, reason } = parsed;
    return { fault: reason, ...(known ? { configuration: toUnreadable(known) } : {}) };
  }
  try {
    return { configuration: toConfiguration(parsed.configuration, keyring) };
  } catch (error) {
    const fault = error instanceof Error ? error.message : 'unknown';
    return { fault, configuration: toUnreadable(parsed.configuration) };
  }
}

/** Feeds records of the topic into a table. One that cannot be used is logged; whether it is enabled holds all the same. */
export function createConfigurationFeed(
  table: ConfigurationTable,
  keyring: Keyring,
  log: Logger,
): (record: KafkaRecord) => void {
  return ({ key, value, partition, offset }) => {
    if (value === null) return;
    const { configuration, fault: reason } = read(value, keyring);
    if (reason !== undefined)
      log.error('a configuration record cannot be read', {
        ...{ key: key?.toString('utf8') ?? '', partition, offset, reason },
      });
    if (configuration !== undefined) table.apply(configuration);
  };
}
