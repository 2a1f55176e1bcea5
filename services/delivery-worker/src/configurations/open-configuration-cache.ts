import { TOPICS, isCompleteMark, readCompleteMark } from '@webhooks/contracts';
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

const INCOMPLETE = 'webhooks.configurations lacks webhooks; config-api has to fill it';

/** Resolves when the cache is complete: before the first record is handled. */
export async function openConfigurationCache(
  kafka: Kafka,
  keyring: Keyring,
  scope: ServiceScope,
): Promise<ConfigurationCache> {
  const table = new ConfigurationTable();
  let complete: readonly number[] | undefined;
  const isComplete = (): boolean => reader.hasRead(complete?.entries());
  const reader = openTableReader({
    kafka,
    topic: TOPICS.configurations,
    onRecord: (record) => {
      if (isCompleteMark(record)) {
        complete = readCompleteMark(record);
        return;
      }
      const configuration = readConfiguration(record, keyring, scope.log);
      if (configuration) table.apply(configuration);
    },
    onRestart: () => (complete = undefined),
    onFatal: scope.fail,
  });
  scope.onClose('configuration cache', () => reader.close());
  scope.health.readiness('webhooks', () => (isComplete() ? undefined : INCOMPLETE));
  const staleness = () => (reader.isFresh() ? undefined : 'the configuration cache is stale');
  scope.health.readiness('configurations', staleness, false);
  const lacking = (): string | undefined => {
    const now = Date.now();
    const keys = new Set([...table.unopened].flatMap((one) => one.missingKey(now) ?? []));
    return keys.size > 0 ? `SECRETS_KEYS lacks ${[...keys].join(', ')}` : undefined;
  };
  scope.health.readiness('secrets', lacking, false);
  const help = 'Configurations known to this worker';
  addGauge(scope.registry, 'webhook_configurations', help, () => table.size);
  await reader.whenFresh();
  if (!isComplete()) scope.log.warn(INCOMPLETE);
  await reader.until(isComplete);
  // Fresh is what the partitions' leaders know: right after one moved that may not be all that was acknowledged. And what was
  // published before the mark may be read after it, from another partition.
  await reader.catchUp();
  scope.log.info('keys of secrets', { keys: keyring.keys.map(({ id }) => id), fault: lacking() });
  return { table, reader };
}
