import type { Ask } from '@webhooks/mongodb';
import { BUCKET_MS, bucketStartOf } from './health-bucket.js';
import type { HealthBucket } from './health-bucket.js';
import { byBucket, count } from './count-attempts.js';
import type { ReadPack } from './count-attempts.js';
import { healthId } from './health-model.js';
import type { HealthModel, HealthRow } from './health-model.js';
import { DAY_MS } from './view-health.js';
import { writeRows } from '../write-rows.js';
import type { RowWrite } from '../write-rows.js';

export type AskHealth = Ask<{ readonly endpointHealth: HealthModel }>;

/** Races for one document that a batch may lose. */
const MAX_TRIES = 10;
/** Documents of one statement. */
const CHUNK = 500;

const writeOf = (row: HealthRow): RowWrite<HealthRow> =>
  row.version === 1 ? { insert: row } : { replacement: row, readVersion: row.version - 1 };

async function countChunk(
  ask: AskHealth,
  chunk: readonly (readonly [string, Parameters<typeof count>[2]])[],
): Promise<boolean> {
  const ids = chunk.map(([id]) => id);
  const rows = await ask(({ endpointHealth }) =>
    endpointHealth
      .find({ _id: { $in: ids } })
      .lean<HealthRow[]>()
      .exec(),
  );
  const known = new Map(rows.map((row) => [row._id, row]));
  const changed = chunk.flatMap(([id, placed]) => count(id, known.get(id), placed) ?? []);
  if (changed.length === 0) return true;
  const older = changed.filter(({ version }) => version > 1).length;
  const { replaced, taken } = await ask(({ endpointHealth }) =>
    writeRows(endpointHealth.collection, changed.map(writeOf)),
  );
  return replaced === older && taken.length === 0;
}

/**
 * Counts the attempts of several records; those that are counted already are passed over, so that it may be called again
 * with the same ones. Throws when other instances were faster too often.
 */
export async function countPacks(ask: AskHealth, packs: readonly ReadPack[]): Promise<void> {
  const buckets = [...byBucket(packs)];
  for (let from = 0; from < buckets.length; from += CHUNK) {
    const chunk = buckets.slice(from, from + CHUNK);
    let done = false;
    for (let tries = 0; !done; tries += 1) {
      if (tries === MAX_TRIES) throw new Error('other instances changed the health of the same endpoints');
      done = await countChunk(ask, chunk);
    }
  }
}

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
