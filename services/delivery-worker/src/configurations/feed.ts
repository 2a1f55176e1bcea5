import { parseConfigurationRecord } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import type { ConfigurationTable } from './table.js';
import { toConfiguration, toUnreadable } from './configuration.js';

const keyOf = ({ key }: KafkaRecord): string => key?.toString('utf8') ?? '';

/** Feeds records of the topic into a table. One that cannot be used is logged; whether it is enabled holds all the same. */
export function createConfigurationFeed(
  table: ConfigurationTable,
  keyring: Keyring,
  log: Logger,
): (record: KafkaRecord) => void {
  return (record) => {
    if (record.value === null) return;
    const parsed = parseConfigurationRecord(record.value);
    if (!parsed.ok) {
      log.error('a configuration record cannot be read', {
        key: keyOf(record),
        partition: record.partition,
        offset: record.offset,
        reason: parsed.reason,
      });
      if (parsed.known) table.apply(toUnreadable(parsed.known));
      return;
    }
    try {
      table.apply(toConfiguration(parsed.configuration, keyring));
    } catch (error) {
      log.error('a configuration cannot be used', {
        key: keyOf(record),
        reason: error instanceof Error ? error.message : 'unknown',
      });
      table.apply(toUnreadable(parsed.configuration));
    }
  };
}
