import type { EventType } from '@webhooks/contracts';
import type { TableReader } from '@webhooks/kafka';
import type { ConfigurationTable } from './table.js';
import type { Configuration } from './configuration.js';
import { shareEnds } from './share-ends.js';
import { Waiters } from './waiters.js';

/** A cache not proved to be at the end of the topic for longer than this, in milliseconds, is stale. */
const FRESH_MS = 700;
/** Longer than any reader needs to pass offsets that are there; then the record that asked is handled again later. */
const CATCH_UP_MS = 30_000;

/** The worker's cache of all configurations, and whether it may be used now. */
export interface ConfigurationCache {
  isFresh(): boolean;
  /** Resolves as soon as the cache is fresh; at once when it is. Rejects when the worker stops. */
  whenFresh(): Promise<void>;
  find(tenantId: string, ref: string): Configuration | undefined;
  hasTenant(tenantId: string): boolean;
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[];
  /** Resolves when the cache holds everything that was published before this call. Rejects when Kafka cannot be asked. */
  catchUp(): Promise<void>;
}

export function createConfigurationCache(
  table: ConfigurationTable,
  reader: TableReader,
): ConfigurationCache & { close(): void } {
  const waiters = new Waiters();
  const ends = shareEnds(() => reader.fetchEnds());
  const isFresh = (): boolean => performance.now() - reader.freshAt() <= FRESH_MS;
  return {
    isFresh,
    whenFresh: () => (isFresh() ? Promise.resolve() : waiters.wait(isFresh)),
    find: (tenantId, ref) => table.find(tenantId, ref),
    hasTenant: (tenantId) => table.hasTenant(tenantId),
    enabledFor: (tenantId, eventType) => table.enabledFor(tenantId, eventType),
    catchUp: async () => {
      const wanted = await ends();
      await waiters.wait(() => reader.passed(wanted), CATCH_UP_MS);
    },
    close: () => waiters.close(),
  };
}
