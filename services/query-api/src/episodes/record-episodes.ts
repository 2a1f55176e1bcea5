import type { AttemptLogEntry } from '@webhooks/contracts';
import type { Database } from '../database.js';
import { chunksOf } from '../documents.js';
import { bucketId } from '../endpoint-health/count-attempts.js';
import { BUCKET_MS } from '../endpoint-health/health-bucket.js';
import { keyOf } from '../payments/event-store.js';
import { endEpisode, foldEntries, NO_EPISODES } from './episode.js';
import { changeEpisodes } from './episode-store.js';

type Writing = Pick<Database, 'writing'>;

/**
 * Ends episodes whose first failure was read after a later success, which had no document to end. A success is counted
 * before an open document is looked for, and this looks for it after the document is stored. So one of two instances sees
 * the other's. Looks at the ten minutes of the first failure and the next. `since`: the first failures, by document.
 */
async function endByCountedSuccess(
  database: Writing,
  since: ReadonlyMap<string, number>,
  failingAfterMs: number,
): Promise<void> {
  const next = (at: number): number => Math.min(at + BUCKET_MS, Date.now());
  const ids = new Set([...since].flatMap(([id, at]) => [bucketId(id, at), bucketId(id, next(at))]));
  const filter = { _id: { $in: [...ids] }, lastSuccessAt: { $gt: 0 } };
  const buckets = await database.writing()(({ endpointHealth }) =>
    endpointHealth.find(filter, 'tenantId ref lastSuccessAt').lean().exec(),
  );
  const successes = buckets
    .map(({ tenantId, ref, lastSuccessAt = 0 }) => [keyOf(tenantId, ref), lastSuccessAt] as const)
    .filter(([id, at]) => at >= (since.get(id) ?? Infinity))
    .sort(([, one], [, other]) => one - other);
  await changeEpisodes(database, new Map(successes), (row, at) =>
    endEpisode(row, { at, ended: 'success' }, failingAfterMs),
  );
}

/**
 * Records the episodes of the endpoints whose failures in these entries leave a trace, and of those whose episode is open.
 * Entries may be recorded repeatedly and in any order. Any other endpoint costs one indexed read for each batch.
 */
export async function recordEpisodes(
  database: Writing,
  entries: readonly AttemptLogEntry[],
  failingAfterMs: number,
): Promise<void> {
  const byEndpoint = Map.groupBy(entries, ({ tenantId, ref }) => keyOf(tenantId, ref));
  for (const chunk of chunksOf([...byEndpoint])) {
    const filter = { _id: { $in: chunk.map(([id]) => id) }, open: 'yes' } as const;
    const open = await database.writing()(({ episodes }) => episodes.distinct('_id', filter).exec());
    const [touched, since] = [new Map(chunk.filter(([id]) => open.includes(id))), new Map<string, number>()];
    for (const [id, some] of chunk) {
      const { current, past, deadAt } = foldEntries(NO_EPISODES, some, failingAfterMs);
      if (current || past.length > 0 || deadAt) touched.set(id, some);
      if (current) since.set(id, current.first.at);
    }
    await changeEpisodes(database, touched, (row, some) => foldEntries(row, some, failingAfterMs));
    if (since.size > 0) await endByCountedSuccess(database, since, failingAfterMs);
  }
}
