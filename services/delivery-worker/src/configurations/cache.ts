import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@webhooks/contracts';
import type { TableReader } from '@webhooks/kafka';
import type { ConfigurationTable } from './table.js';
import type { Configuration } from './configuration.js';

/** A cache not proved to be at the end of the topic for longer than this, in milliseconds, is stale. */
const FRESH_MS = 700;
/** Longer than any reader needs to pass offsets that are there; then the record that asked is handled again later. */
const CATCH_UP_MS = 30_000;
const POLL_MS = 20;

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

/** Resolves when it holds; rejects when it does not within `withinMs`, or when the worker stops. */
async function until(isSo: () => boolean, stopping: AbortSignal, withinMs = Infinity): Promise<void> {
  for (const endAt = performance.now() + withinMs; !isSo();) {
    if (performance.now() > endAt) throw new Error('what was waited for did not come in time');
    await sleep(POLL_MS, undefined, { signal: stopping });
  }
}

/** One run at a time, shared by all who asked before it began. */
function shared(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= running.then(() => {
      next = undefined;
      const begun = run();
      running = begun.catch(() => undefined); // told to those who share it
      return begun;
    }));
}

/** `stopping` ends all waits. */
export function createConfigurationCache(
  table: ConfigurationTable,
  reader: TableReader,
  stopping: AbortSignal,
): ConfigurationCache {
  const isFresh = (): boolean => performance.now() - reader.freshAt() <= FRESH_MS;
  return {
    isFresh,
    whenFresh: shared(() => until(isFresh, stopping)),
    find: (tenantId, ref) => table.find(tenantId, ref),
    hasTenant: (tenantId) => table.hasTenant(tenantId),
    enabledFor: (tenantId, eventType) => table.enabledFor(tenantId, eventType),
    catchUp: shared(async () => {
      const wanted = await reader.fetchEnds();
      await until(() => reader.passed(wanted), stopping, CATCH_UP_MS);
    }),
  };
}
