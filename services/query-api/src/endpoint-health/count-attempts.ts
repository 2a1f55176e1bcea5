import type { AttemptLogEntry } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, upsertMerged } from '../documents.js';
import { keyOf } from '../payments/event-store.js';
import { addEntry, BUCKET_MS, bucketStartOf, DAY_MS, emptyBucket, HOUR_MS } from './health-bucket.js';
import type { HealthBucket } from './health-bucket.js';

/** A bucket as a document of the collection `endpointHealth`. */
export interface HealthRow extends HealthBucket {
  /** `tenantId/ref/startAt`. `startAt` has 13 digits, so that the ids of an endpoint's buckets sort by time. */
  readonly _id: string;
  /** For each partition of `webhooks.attempts`, the offset below which everything is counted. */
  readonly offsets: Readonly<Record<string, number>>;
  /** For each partition, the ids of the last counted packs. The second copy of a pack has a higher offset. */
  readonly packs?: Readonly<Record<string, readonly string[]>>;
  readonly version: number;
  readonly expiresAt: Date;
}

type HealthModel = Model<HealthRow>;

export function healthModelOn(connection: Connection): HealthModel {
  const schema = documentSchema<HealthRow>();
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  // For the last hour of all endpoints of a tenant.
  schema.index({ tenantId: 1, startAt: 1 });
  return connection.model<HealthRow>('EndpointHealth', schema, 'endpointHealth');
}

/** Returns the id of the bucket for a time. `id`: `tenantId/ref`. */
export const bucketId = (id: string, at: number): string =>
  `${id}/${String(bucketStartOf(at)).padStart(13, '0')}`;

/** The entries of one record of `webhooks.attempts`. */
export interface ReadPack {
  readonly partition: number;
  readonly offset: number;
  /** Equal for both copies of a pack that was produced again after a lost response; undefined: the key has no id. */
  readonly id: string | undefined;
  readonly entries: readonly AttemptLogEntry[];
}

/** An entry with the position of its record. */
interface Placed extends Omit<ReadPack, 'entries'> {
  readonly entry: AttemptLogEntry;
}

/** Of a pack that was produced twice, returns only the later record. */
const distinct = (packs: readonly ReadPack[]): Iterable<ReadPack> =>
  new Map(packs.map((pack) => [pack.id ?? `${pack.partition}/${pack.offset}`, pack])).values();

/** The `ref` of the buckets of a whole tenant. */
export const WHOLE_TENANT = '';

/** Groups the entries by the ids of the two documents that count them, its endpoint's and its tenant's, in the order of reading. */
function byBucket(packs: readonly ReadPack[]): ReadonlyMap<string, readonly Placed[]> {
  const placed = [...distinct(packs)].flatMap(({ entries, ...place }) =>
    entries.map((entry) => ({ ...place, entry })),
  );
  const group = (ofTenant: boolean) =>
    Map.groupBy(placed, ({ entry: { tenantId, ref, at } }) =>
      bucketId(keyOf(tenantId, ofTenant ? WHOLE_TENANT : ref), at),
    );
  return new Map([...group(false), ...group(true)]);
}

/**
 * Pack ids that a document stores for a partition: one second of four workers at full load, 5 KB in all. A worker
 * whose acknowledgement was lost sends the same batch first. So only packs of other workers lie between the two copies.
 */
const MAX_PACKS = 16;
const withPack = (pack: string, known: readonly string[] = []): readonly string[] =>
  known.includes(pack) ? known : [...known, pack].slice(-MAX_PACKS);

const startOf = (id: string, { entry }: Placed): HealthRow => {
  const bucket = emptyBucket({ ...entry, ref: id.split('/')[1] ?? WHOLE_TENANT });
  return {
    _id: id,
    ...bucket,
    offsets: {},
    version: 0,
    expiresAt: new Date(bucket.startAt + DAY_MS + 2 * BUCKET_MS),
  };
};

/** Returns the document with the entries that it has not counted yet; undefined when it has counted all. */
function count(known: HealthRow | undefined, placed: readonly Placed[], id: string): HealthRow | undefined {
  const [first] = placed;
  if (!first) return undefined;
  const before = known ?? startOf(id, first);
  const packs: Record<string, readonly string[]> = { ...before.packs };
  const fresh = placed
    .filter(({ partition, offset }) => offset >= (before.offsets[partition] ?? 0))
    .filter(({ partition, id: pack }) => pack === undefined || !packs[partition]?.includes(pack));
  if (fresh.length === 0) return undefined;
  const offsets: Record<string, number> = { ...before.offsets };
  let row = before;
  for (const { partition, offset, id: pack, entry } of fresh) {
    row = { ...row, ...addEntry(row, entry) };
    offsets[partition] = Math.max(offsets[partition] ?? 0, offset + 1);
    if (pack !== undefined) packs[partition] = withPack(pack, packs[partition]);
  }
  return { ...row, offsets, packs, version: before.version + 1 };
}

type RunHealthQuery = RunQuery<{ readonly endpointHealth: HealthModel }>;

/** Counts attempts. Idempotent: entries that are already counted are skipped. */
export const countPacks = (runQuery: RunHealthQuery, packs: readonly ReadPack[]): Promise<void> =>
  upsertMerged(
    (statement) => runQuery(({ endpointHealth }) => statement(endpointHealth.collection)),
    byBucket(packs),
    count,
  );

/** Excludes the fields that only counting needs: most of a document. */
const WITHOUT_BOOKKEEPING = '-packs -offsets -version -expiresAt';

const findRange = (runQuery: RunHealthQuery, range: object): Promise<readonly HealthBucket[]> =>
  runQuery(({ endpointHealth }) =>
    endpointHealth.find(range, WITHOUT_BOOKKEEPING).lean<HealthBucket[]>().exec(),
  );

/** Returns the buckets of an endpoint's last day: at most 145 documents, by the index of `_id`. */
export function findBuckets(
  runQuery: RunHealthQuery,
  { tenantId, ref, now }: { readonly tenantId: string; readonly ref: string; readonly now: number },
): Promise<readonly HealthBucket[]> {
  const id = keyOf(tenantId, ref);
  const [from, to] = [bucketId(id, now - DAY_MS + BUCKET_MS), bucketId(id, now + BUCKET_MS)];
  return findRange(runQuery, { _id: { $gte: from, $lte: to } });
}

/** Returns the buckets of the last hour of all endpoints of a tenant, by ref: at most seven each, by an index. */
export async function findLastHour(
  runQuery: RunHealthQuery,
  tenantId: string,
  now: number,
): Promise<ReadonlyMap<string, readonly HealthBucket[]>> {
  const startAt = { $gte: bucketStartOf(now - HOUR_MS + BUCKET_MS) };
  return Map.groupBy(await findRange(runQuery, { tenantId, startAt }), ({ ref }) => ref);
}
