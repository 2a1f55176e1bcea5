import { setTimeout as delay } from 'node:timers/promises';
import { IN_FORCE_MS } from '../in-force.js';
import type { Configuration } from './configurations.js';
import type { World } from './world.js';

/** Registers the configurations of a run and waits until they are in force. */
export async function registerAll(
  { clientOf, receivers }: World,
  configurations: readonly Configuration[],
): Promise<void> {
  for (const { tenantId, ref, eventType, receiver, path } of configurations)
    await clientOf(tenantId).register({
      ref,
      eventType,
      endpointUrl: `${receivers[receiver].origin}${path}`,
    });
  await delay(IN_FORCE_MS);
}
