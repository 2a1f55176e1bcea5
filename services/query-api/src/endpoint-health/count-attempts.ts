import type { AttemptLogEntry } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, upsertMerged } from '../documents.js';
import { addEntry, BUCKET_MS, bucketStartOf, emptyBucket } from './health-bucket.js';
import type { HealthBucket } from './health-bucket.js';
import { DAY_MS } from './view-health.js';

/** A bucket as a document of the collection `endpointHealth`. */
export interface HealthRow extends HealthBucket {
  /** `tenantId/ref/startAt`, the last as 13 digits: the buckets of an endpoint lie side by side. */
  readonly _id: string;
  /** By partition of the attempts: everything below is counted. What is read again is not counted again. */
  readonly offsets: Readonly<Record<string, number>>;
  /** By partition, the last packs that are counted: one that was produced again lies above the offset. */
  readonly packs?: Readonly<Record<string, readonly string[]>>;
  readonly version: number;
  readonly expiresAt: Date;
}

type HealthModel = Model<HealthRow>;

export function healthModelOn(connection: Connection): HealthModel {
  const schema = documentSchema<HealthRow>();
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<HealthRow>('EndpointHealth', schema, 'endpointHealth');
}

export const healthId = (tenantId: string, ref: string, startAt: number): string =>
  `${tenantId}/${ref}/${String(startAt).padStart(13, '0')}`;

/** The entries of one record of `webhooks.attempts`. */
export interface ReadPack {
  readonly partition: number;
  readonly offset: number;
  /** The same when its producing was repeated after a lost answer; undefined for a pack of a worker that gave it none. */
  readonly id: string | undefined;
  readonly entries: readonly AttemptLogEntry[];
}

/** An entry, and the record that it stands in. */
interface Placed extends Omit<ReadPack, 'entries'> {
  readonly entry: AttemptLogEntry;
}

/** Of a pack that lies there twice the later record. */
const once = (packs: readonly ReadPack[]): Iterable<ReadPack> =>
  new Map(packs.map((pack) => [pack.id ?? `${pack.partition}/${pack.offset}`, pack])).values();

/** The entries by the document that counts them, each document's in the order in which they were read. */
const byBucket = (packs: readonly ReadPack[]): ReadonlyMap<string, readonly Placed[]> =>
  Map.groupBy(
    [...once(packs)].flatMap(({ entries, ...place }) => entries.map((entry) => ({ ...place, entry }))),
    ({ entry }) => healthId(entry.tenantId, entry.ref, bucketStartOf(entry.at)),
  );

/**
 * Packs of a partition that a document remembers: of four workers at full load those of one second, in all 5 KB of a document.
 * A worker whose acknowledgement was lost sends the same batch again first, so only packs of others come in between.
 */
const MAX_PACKS = 16;
const withPack = (pack: string, known: readonly string[] = []): readonly string[] =>
  known.includes(pack) ? known : [...known, pack].slice(-MAX_PACKS);

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
function count(known: HealthRow | undefined, placed: readonly Placed[], id: string): HealthRow | undefined {
  const [first] = placed;
  if (!first) return undefined;
  const before = known ?? startOf(id, first);
  const packs: Record<string, readonly string[]> = { ...before.packs };
  const fresh = placed
    .filter(({ partition, offset }) => offset >= (before.offsets[partition] ?? 0))
    .filter(({ partition, id: pack }) => pack === undefined || !packs[partition]?.includes(pack))
    // Partitions come one after the other; what counts as a row of failures is their order in time.
    .sort((one, other) => one.entry.at - other.entry.at);
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

/**
 * Counts the attempts of several records; those that are counted already are passed over, so that it may be called again
 * with the same ones.
 */
export const countPacks = (runQuery: RunHealthQuery, packs: readonly ReadPack[]): Promise<void> =>
  upsertMerged(
    (statement) => runQuery(({ endpointHealth }) => statement(endpointHealth.collection)),
    byBucket(packs),
    count,
  );

/** What only counting needs: most of a document. */
const WITHOUT_BOOKKEEPING = '-packs -offsets -version -expiresAt';

/** The buckets of an endpoint's last day, the oldest first: 144 documents at most, through the collection's own index. */
export async function findBuckets(
  runQuery: RunHealthQuery,
  { tenantId, ref, now }: { readonly tenantId: string; readonly ref: string; readonly now: number },
): Promise<readonly HealthBucket[]> {
  const from = healthId(tenantId, ref, bucketStartOf(now - DAY_MS + BUCKET_MS));
  const to = healthId(tenantId, ref, bucketStartOf(now + BUCKET_MS));
  return runQuery(({ endpointHealth }) =>
    endpointHealth
      .find({ _id: { $gte: from, $lte: to } }, WITHOUT_BOOKKEEPING)
      .sort({ _id: 1 })
      .lean<HealthBucket[]>()
      .exec(),
  );
}
