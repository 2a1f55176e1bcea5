import type { Configuration } from './configuration.js';
import type { PublishConfiguration } from './publish-configuration.js';

export interface SweepPorts {
  readonly unpublished: (changedBefore: Date, limit: number) => Promise<readonly Configuration[]>;
  readonly publish: PublishConfiguration;
  readonly now: () => Date;
}

/** Younger changes belong to the request that waits for their acknowledgement. */
const REQUEST_MS = 2_000;
const MAX_BATCH = 500;

/** Publishes what was changed and never acknowledged: Kafka was away, or a process ended in between. Resolves with how many. */
export async function sweepUnpublished({ unpublished, publish, now }: SweepPorts): Promise<number> {
  const late = await unpublished(new Date(now().getTime() - REQUEST_MS), MAX_BATCH);
  const results = await Promise.all(late.map(publish));
  return results.filter(Boolean).length;
}
