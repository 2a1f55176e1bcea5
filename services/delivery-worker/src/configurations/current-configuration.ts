import type { DeliveryTask } from '@webhooks/contracts';
import type { ConfigurationCache } from './configuration-cache.js';
import type { Configuration } from './configuration.js';

/** Why a delivery is cancelled. */
export type CancelReason = 'disabled' | 'event-type-changed' | 'application-changed';

/**
 * The configuration that applies to an attempt now, or why there is no attempt. `unknown` is a fault of this system:
 * webhooks are never deleted.
 */
export type Current =
  | { readonly kind: 'active'; readonly configuration: Configuration }
  | { readonly kind: 'cancelled'; readonly reason: CancelReason }
  | { readonly kind: 'unknown' };

const cancelled = (reason: CancelReason): Current => ({ kind: 'cancelled', reason });

function decideByConfiguration(task: DeliveryTask, configuration: Configuration): Current {
  if (!configuration.enabled) return cancelled('disabled');
  if (configuration.isUnreadable) return { kind: 'active', configuration };
  if (configuration.eventType !== task.eventType) return cancelled('event-type-changed');
  if (configuration.applicationId !== task.applicationId) return cancelled('application-changed');
  return { kind: 'active', configuration };
}

const isRecentEnough = (
  configuration: Configuration | undefined,
  task: DeliveryTask,
): configuration is Configuration => configuration !== undefined && configuration.revision >= task.revision;

/**
 * Returns the configuration in force, synchronously when the cache is fresh and has it. It is checked again when admission
 * has permitted the attempt.
 */
export function currentConfiguration(
  task: DeliveryTask,
  { table, reader }: ConfigurationCache,
): Current | Promise<Current> {
  const configuration = table.find(task.tenantId, task.ref);
  if (isRecentEnough(configuration, task) && reader.isFresh())
    return decideByConfiguration(task, configuration);
  return catchUp(task, { table, reader });
}

/** Whether this is the configuration in force. False when the cache is not fresh. */
export const isCurrent = (configuration: Configuration, { table, reader }: ConfigurationCache): boolean =>
  reader.isFresh() && table.find(configuration.tenantId, configuration.ref) === configuration;

/**
 * Catches up with the topic when the `ref` is unknown or older than the task's revision, then waits until the cache
 * is fresh.
 */
async function catchUp(task: DeliveryTask, { table, reader }: ConfigurationCache): Promise<Current> {
  if (!isRecentEnough(table.find(task.tenantId, task.ref), task)) await reader.catchUp();
  // Checked last, because nothing may be awaited after it.
  if (!reader.isFresh()) await reader.whenFresh();
  const configuration = table.find(task.tenantId, task.ref);
  return configuration ? decideByConfiguration(task, configuration) : { kind: 'unknown' };
}
