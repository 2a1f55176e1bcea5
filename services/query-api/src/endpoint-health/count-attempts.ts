import type { AttemptLogEntry } from '@webhooks/contracts';
import { BUCKET_MS, addEntry, bucketStartOf, emptyBucket } from './health-bucket.js';
import { healthId } from './health-model.js';
import type { HealthRow } from './health-model.js';
import { DAY_MS } from './view-health.js';

/** The entries of one record of `webhooks.attempts`. */
export interface ReadPack {
  readonly partition: number;
  readonly offset: number;
  readonly entries: readonly AttemptLogEntry[];
}

/** An entry, and the record that it stands in. */
interface Placed extends Omit<ReadPack, 'entries'> {
  readonly entry: AttemptLogEntry;
}

/** The entries by the document that counts them, each document's in the order in which they were read. */
export function byBucket(packs: readonly ReadPack[]): ReadonlyMap<string, readonly Placed[]> {
  const found = new Map<string, Placed[]>();
  for (const { partition, offset, entries } of packs) {
    for (const entry of entries) {
      const id = healthId(entry.tenantId, entry.ref, bucketStartOf(entry.at));
      const placed = found.get(id);
      if (placed) placed.push({ partition, offset, entry });
      else found.set(id, [{ partition, offset, entry }]);
    }
  }
  return found;
}

const startOf = (id: string, { entry }: Placed): HealthRow => {
  const bucket = emptyBucket(entry);
  return {
    _id: id,
    ...bucket,
    offsets: {},
    version: 0,
    expiresAt: new Date(bucket.startAt + DAY_MS + 2 * BUCKET_MS),
  };
};

/** Counts what a document does not have yet; undefined when it has all. */
export function count(
  known: HealthRow | undefined,
  placed: readonly Placed[],
  id: string,
): HealthRow | undefined {
  const [first] = placed;
  if (!first) return undefined;
  const before = known ?? startOf(id, first);
  const fresh = placed
    .filter(({ partition, offset }) => offset >= (before.offsets[partition] ?? 0))
    // Partitions come one after the other; what counts as a row of failures is their order in time.
    .sort((one, other) => one.entry.at - other.entry.at);
  if (fresh.length === 0) return undefined;
  const offsets: Record<string, number> = { ...before.offsets };
  let row = before;
  for (const { partition, offset, entry } of fresh) {
    row = { ...row, ...addEntry(row, entry) };
    offsets[partition] = Math.max(offsets[partition] ?? 0, offset + 1);
  }
  return { ...row, offsets, version: before.version + 1 };
}
