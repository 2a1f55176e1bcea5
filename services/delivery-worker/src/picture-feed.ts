import { parseConfigurationRecord } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import type { ConfigurationTable } from './configuration-table.js';
import { toConfiguration } from './configuration.js';

/** Feeds records of the topic into a table; one that cannot be used is logged, and the known configuration stays. */
export function createPictureFeed(
  table: ConfigurationTable,
  keyring: Keyring,
  log: Logger,
): (record: KafkaRecord) => void {
  return (record) => {
    const key = record.key?.toString('utf8') ?? '';
    if (record.value === null) return;
    const parsed = parseConfigurationRecord(record.value);
    if (!parsed.ok) {
      log.error('a configuration record cannot be read', {
        key,
        partition: record.partition,
        offset: record.offset,
        reason: parsed.reason,
      });
      return;
    }
    try {
      table.apply(toConfiguration(parsed.configuration, keyring));
    } catch (error) {
      log.error('a configuration cannot be used', {
        key,
        reason: error instanceof Error ? error.message : 'unknown',
      });
    }
  };
}
