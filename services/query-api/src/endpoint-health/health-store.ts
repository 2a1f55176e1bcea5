import type { Ask } from '@webhooks/mongodb';
import { BUCKET_MS, bucketStartOf } from './health-bucket.js';
import type { HealthBucket } from './health-bucket.js';
import { byBucket, count } from './count-attempts.js';
import type { ReadPack } from './count-attempts.js';
import { healthId } from './health-model.js';
import type { HealthModel, HealthRow } from './health-model.js';
import { DAY_MS } from './view-health.js';
import { upsertMerged } from '../write-rows.js';

export type AskHealth = Ask<{ readonly endpointHealth: HealthModel }>;

/**
 * Counts the attempts of several records; those that are counted already are passed over, so that it may be called again
 * with the same ones.
 */
export const countPacks = (ask: AskHealth, packs: readonly ReadPack[]): Promise<void> =>
  upsertMerged(
    (statement) => ask(({ endpointHealth }) => statement(endpointHealth.collection)),
    byBucket(packs),
    count,
  );

/** The buckets of an endpoint's last day, the oldest first: 144 documents at most, through the collection's own index. */
export async function findBuckets(
  ask: AskHealth,
  { tenantId, ref, now }: { readonly tenantId: string; readonly ref: string; readonly now: number },
): Promise<readonly HealthBucket[]> {
  const from = healthId(tenantId, ref, bucketStartOf(now - DAY_MS + BUCKET_MS));
  const to = healthId(tenantId, ref, bucketStartOf(now + BUCKET_MS));
  return ask(({ endpointHealth }) =>
    endpointHealth
      .find({ _id: { $gte: from, $lte: to } })
      .sort({ _id: 1 })
      .lean<HealthRow[]>()
      .exec(),
  );
}
