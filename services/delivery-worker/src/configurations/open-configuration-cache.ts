import { TOPICS } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka, TableReader } from '@webhooks/kafka';
import { addGauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { readConfiguration } from './configuration.js';
import { ConfigurationTable } from './configuration-table.js';

/** The worker's cache of all configurations, and whether it may be used now. */
export interface ConfigurationCache {
  readonly table: Pick<ConfigurationTable, 'find' | 'hasTenant' | 'enabledFor'>;
  readonly reader: Pick<TableReader, 'isFresh' | 'whenFresh' | 'catchUp'>;
}

/** Resolves when the cache is complete: before the first record is handled. */
export async function openConfigurationCache(
  kafka: Kafka,
  keyring: Keyring,
  scope: ServiceScope,
): Promise<ConfigurationCache> {
  const table = new ConfigurationTable();
  const reader = openTableReader({
    kafka,
    topic: TOPICS.configurations,
    onRecord: (record) => {
      const configuration = readConfiguration(record, keyring, scope.log);
      if (configuration) table.apply(configuration);
    },
    onFatal: scope.fail,
  });
  scope.onClose('configuration cache', () => reader.close());
  scope.health.readiness('configurations', () =>
    reader.isFresh() ? undefined : 'the configuration cache is stale',
  );
  const help = 'Configurations known to this worker';
  addGauge(scope.registry, 'webhook_configurations', help, () => table.size);
  await reader.whenFresh();
  // Fresh is what the partitions' leaders know: right after one moved that may not be all that was acknowledged.
  await reader.catchUp();
  return { table, reader };
}
