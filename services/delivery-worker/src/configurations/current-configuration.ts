import type { DeliveryTask } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';
import type { Settlement } from '../path/decide.js';
import type { ConfigurationCache } from './open-configuration-cache.js';

/** The configuration that an attempt made now has to follow, or why there is to be none. Unknown is our own fault: no webhook vanishes. */
export type Current =
  | { readonly kind: 'active'; readonly configuration: Configuration }
  | { readonly kind: 'ended'; readonly settlement: Settlement }
  | { readonly kind: 'unknown' };

const cancelled = (reason: 'disabled' | 'event-type-changed' | 'application-changed'): Current => ({
  kind: 'ended',
  settlement: { kind: 'cancelled', reason },
});

function judge(task: DeliveryTask, configuration: Configuration): Current {
  if (!configuration.enabled) return cancelled('disabled');
  if (configuration.isUnreadable) return { kind: 'active', configuration };
  if (configuration.eventType !== task.eventType) return cancelled('event-type-changed');
  if (configuration.applicationId !== task.applicationId) return cancelled('application-changed');
  return { kind: 'active', configuration };
}

const knows = (
  configuration: Configuration | undefined,
  task: DeliveryTask,
): configuration is Configuration => configuration !== undefined && configuration.revision >= task.revision;

/**
 * Reads the configuration in force, at once when the cache is fresh and knows it: nothing may be awaited
 * between this look and the attempt.
 */
export function currentConfiguration(
  task: DeliveryTask,
  { table, reader }: ConfigurationCache,
): Current | Promise<Current> {
  const configuration = table.find(task.tenantId, task.ref);
  if (knows(configuration, task) && reader.isFresh()) return judge(task, configuration);
  return catchUp(task, { table, reader });
}

/**
 * A `ref` that is unknown, or older here than the task says, is looked up again once the cache holds everything
 * published before.
 */
async function catchUp(task: DeliveryTask, { table, reader }: ConfigurationCache): Promise<Current> {
  if (!knows(table.find(task.tenantId, task.ref), task)) await reader.catchUp();
  // Fresh comes last, as above.
  if (!reader.isFresh()) await reader.whenFresh();
  const configuration = table.find(task.tenantId, task.ref);
  return configuration ? judge(task, configuration) : { kind: 'unknown' };
}
