import { PAGE } from '../store/configuration-store.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { PUBLISH_MS } from './publish-configuration.js';
import type { PublishConfiguration } from './publish-configuration.js';

export interface SweepPorts extends Pick<ConfigurationStore, 'unpublished' | 'confirm'> {
  readonly publish: PublishConfiguration;
  readonly now: () => Date;
}

/** Publishes what was changed and never acknowledged: Kafka was away, or a process ended in between. Resolves with how many. */
export async function sweepUnpublished(ports: SweepPorts): Promise<number> {
  // Younger changes belong to the request that waits for their acknowledgement.
  const late = await ports.unpublished(new Date(ports.now().getTime() - PUBLISH_MS), PAGE);
  // Only what a majority has may be published, or a failover would leave Kafka ahead of the database.
  const results = await Promise.all(
    late.map(async (one) => (await ports.confirm(one)) && ports.publish(one)),
  );
  return results.filter(Boolean).length;
}
