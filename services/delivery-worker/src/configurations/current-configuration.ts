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

/**
 * Returns the configuration in force. Catches up with the topic when the `ref` is unknown or older than the task's
 * revision, then waits until the cache is fresh. It is checked again when admission has permitted the attempt.
 */
export async function currentConfiguration(
  task: DeliveryTask,
  { table, reader }: ConfigurationCache,
): Promise<Current> {
  const known = table.find(task.tenantId, task.ref);
  if (known === undefined || known.revision < task.revision) await reader.catchUp();
  // Checked last, because nothing may be awaited after it.
  if (!reader.isFresh()) await reader.whenFresh();
  const configuration = table.find(task.tenantId, task.ref);
  return configuration ? decideByConfiguration(task, configuration) : { kind: 'unknown' };
}

/** Whether this is the configuration in force. False when the cache is not fresh. */
export const isCurrent = (configuration: Configuration, { table, reader }: ConfigurationCache): boolean =>
  reader.isFresh() && table.find(configuration.tenantId, configuration.ref) === configuration;
