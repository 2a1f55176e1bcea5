import type { Configuration } from './configuration.js';
import type { PublishConfiguration } from './publish-configuration.js';

export interface SweepPorts {
  readonly unpublished: (changedBefore: Date, limit: number) => Promise<readonly Configuration[]>;
  readonly confirm: (configuration: Configuration) => Promise<boolean>;
  readonly publish: PublishConfiguration;
  readonly now: () => Date;
}

/** Younger changes belong to the request that waits for their acknowledgement. */
const REQUEST_MS = 2_000;
const MAX_BATCH = 500;

/** Publishes what was changed and never acknowledged: Kafka was away, or a process ended in between. Resolves with how many. */
export async function sweepUnpublished(ports: SweepPorts): Promise<number> {
  const late = await ports.unpublished(new Date(ports.now().getTime() - REQUEST_MS), MAX_BATCH);
  // Only what a majority has may be published, or a failover would leave Kafka ahead of the database.
  const results = await Promise.all(
    late.map(async (one) => (await ports.confirm(one)) && ports.publish(one)),
  );
  return results.filter(Boolean).length;
}
