import { RevisionTable, TOPICS, isCompleteMark, readCompleteMark } from '@webhooks/contracts';
import type { Keyring, NotificationKind } from '@webhooks/contracts';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka, TableReader } from '@webhooks/kafka';
import { addGauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { readConfiguration } from './configuration.js';
import type { Configuration } from './configuration.js';

interface Route {
  readonly enabled: Set<Configuration>;
  /** `enabled` sorted by `ref`; undefined after a change, until it is needed again. */
  sorted?: readonly Configuration[] | undefined;
}

/**
 * All configurations by (tenant, ref), and the enabled ones by (tenant, event type). Both look-ups take constant
 * time.
 */
export class ConfigurationTable extends RevisionTable<Configuration> {
  /** Enabled configurations that lacked a decryption key when they were read. */
  readonly lackingKeys = new Set<Configuration>();
  readonly #routes = new Map<string, Partial<Record<NotificationKind, Route>>>();

  override apply(next: Configuration): boolean {
    const previous = this.find(next.tenantId, next.ref);
    if (!super.apply(next)) return false;
    if (previous?.enabled) this.#remove(previous);
    if (next.enabled) this.#add(next);
    return true;
  }

  #remove(previous: Configuration): void {
    this.#changedRoute(previous)?.delete(previous);
    this.lackingKeys.delete(previous);
  }

  #add(next: Configuration): void {
    this.#changedRoute(next)?.add(next);
    if (next.missingKey(Date.now()) !== undefined) this.lackingKeys.add(next);
  }

  /**
   * Returns the tenant's enabled configurations for an event type, sorted by `ref`. The returned array is never
   * changed.
   */
  enabledFor(tenantId: string, eventType: NotificationKind): readonly Configuration[] {
    const route = this.#routes.get(tenantId)?.[eventType];
    if (route === undefined) return [];
    return (route.sorted ??= [...route.enabled].sort((one, other) => (one.ref < other.ref ? -1 : 1)));
  }

  #changedRoute({ tenantId, eventType }: Configuration): Set<Configuration> | undefined {
    if (eventType === undefined) return undefined;
    const routes = this.#routes.get(tenantId) ?? {};
    this.#routes.set(tenantId, routes);
    const route = (routes[eventType] ??= { enabled: new Set() });
    route.sorted = undefined;
    return route.enabled;
  }
}

/** The worker's cache of all configurations, and the reader that keeps it fresh. */
export interface ConfigurationCache {
  readonly table: Pick<ConfigurationTable, 'find' | 'hasTenant' | 'enabledFor'>;
  readonly reader: Pick<TableReader, 'isFresh' | 'whenFresh' | 'catchUp'>;
}

const INCOMPLETE = 'webhooks.configurations lacks webhooks; config-api must publish them';

/** Opens the cache. Resolves when it is complete; only then may records be handled. */
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
        complete = readCompleteMark(record.value);
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
  const missingKeys = (): string | undefined => {
    const now = Date.now();
    const keys = new Set([...table.lackingKeys].flatMap((one) => one.missingKey(now) ?? []));
    return keys.size > 0 ? `SECRETS_KEYS lacks ${[...keys].join(', ')}` : undefined;
  };
  scope.health.readiness('secrets', missingKeys, false);
  const help = 'Configurations known to this worker';
  addGauge(scope.registry, 'webhook_configurations', help, () => table.size);
  await reader.whenFresh();
  if (!isComplete()) scope.log.warn(INCOMPLETE);
  await reader.until(isComplete);
  // Freshness is proved by partition leaders, and a new leader may not know all acknowledged records yet. Records
  // published before the mark may also arrive after it, from other partitions.
  await reader.catchUp();
  scope.log.info('keys of secrets', { keys: keyring.keys.map(({ id }) => id), fault: missingKeys() });
  return { table, reader };
}
