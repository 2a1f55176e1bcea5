import type { KafkaRecord } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, expiring, upsertMerged } from '../documents.js';
import { DAY_MS, HOUR_MS } from '../endpoint-health/health-bucket.js';

/** A number of events and their amount in cents. */
export interface Sum {
  readonly events: number;
  readonly cents: number;
}
export type Sums = Readonly<Record<string, Sum>>;

/**
 * The sums of one tenant's day: the accepted events of one type, or the deliveries to one webhook by their status. A
 * delivery counts on the day on which its event was accepted.
 */
export interface TotalsRow {
  /** `tenantId/YYYY-MM-DD/` and a type of events, or the ref of a webhook. */
  readonly _id: string;
  readonly sums: Sums;
  /** For each partition, the offset below which everything is counted. */
  readonly offsets: Readonly<Record<string, number>>;
  readonly version: number;
  /** The end of the day. The retention counts from it. */
  readonly endsAt?: Date;
}

/** The position of a record. `partition` names the topic, too, and contains no `.`. */
export interface Position {
  readonly partition: string;
  readonly offset: number;
}

type RecordPlace = Pick<KafkaRecord, 'topic' | 'partition' | 'offset'>;

export const positionOf = ({ topic, partition, offset }: RecordPlace): Position => ({
  partition: `${topic.replaceAll('.', '-')}-${partition}`,
  offset,
});

/** The sum of a day's events of one type. */
export const ACCEPTED = 'accepted';

/** One fact to count: it moves an event and its amount from one sum to another. */
export interface Counted extends Position {
  readonly tenantId: string;
  /** When the event was accepted, Unix milliseconds. */
  readonly acceptedAt: number;
  /** A type of events, or the ref of a webhook. */
  readonly of: string;
  readonly cents: number;
  /** Absent when no sum has the event yet. */
  readonly from?: string;
  readonly to: string;
}

/** São Paulo is three hours behind UTC; there is no daylight saving time since 2019 (Decree 9,772). */
const BEHIND_UTC_MS = 3 * HOUR_MS;

/** The day of a time in São Paulo, as `YYYY-MM-DD`. */
export const dayOf = (at: number): string => new Date(at - BEHIND_UTC_MS).toISOString().slice(0, 10);
/** When a day begins in São Paulo, Unix milliseconds. */
export const beginOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) + BEHIND_UTC_MS;
export const endOf = (day: string): number => beginOf(day) + DAY_MS;

export const NOTHING: Sum = { events: 0, cents: 0 };

export const plus = (one: Sum, other: Sum, sign: 1 | -1 = 1): Sum => ({
  events: one.events + sign * other.events,
  cents: one.cents + sign * other.cents,
});

/** Returns the day of a document's id, and the type of events or the ref. */
function partsOf(id: string) {
  const [, day = '', of = ''] = id.split('/');
  return { day, of };
}

/** Returns the document with the facts that it has not counted yet; undefined when it has counted all. */
function add(known: TotalsRow | undefined, facts: readonly Counted[], id: string) {
  const endsAt = new Date(endOf(partsOf(id).day));
  const before = known ?? { _id: id, sums: {}, offsets: {}, version: 0, endsAt };
  const fresh = facts.filter(({ partition, offset }) => offset >= (before.offsets[partition] ?? 0));
  if (fresh.length === 0) return undefined;
  const sums: Record<string, Sum> = { ...before.sums };
  const offsets: Record<string, number> = { ...before.offsets };
  for (const { partition, offset, cents, from, to } of fresh) {
    offsets[partition] = Math.max(offsets[partition] ?? 0, offset + 1);
    if (from) sums[from] = plus(sums[from] ?? NOTHING, { events: 1, cents }, -1);
    sums[to] = plus(sums[to] ?? NOTHING, { events: 1, cents });
  }
  return { ...before, sums, offsets, version: before.version + 1 };
}

type TotalsModel = Model<TotalsRow>;
type RunTotalsQuery = RunQuery<{ readonly totals: TotalsModel }>;

export function totalsModelOn(connection: Connection, retentionMs: number): TotalsModel {
  const schema = documentSchema<TotalsRow>();
  schema.index({ endsAt: 1 }, expiring(retentionMs));
  // Of documents that 1.0.0 has made.
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<TotalsRow>('Totals', schema, 'totals');
}

/**
 * Counts facts. Idempotent: a fact whose record is counted is skipped. One call has all facts of its records, and a later
 * call has later records of a partition.
 */
export const countFacts = (runQuery: RunTotalsQuery, facts: readonly Counted[]): Promise<void> =>
  upsertMerged<TotalsRow, readonly Counted[]>(
    (statement) => runQuery(({ totals }) => statement(totals.collection)),
    Map.groupBy(facts, ({ tenantId, acceptedAt, of }) => `${tenantId}/${dayOf(acceptedAt)}/${of}`),
    add,
    true,
  );

/** Returns the sums of a tenant's days from `first` to `last`: one document each, by the index of `_id`. */
export async function findSums(runQuery: RunTotalsQuery, tenantId: string, first: string, last: string) {
  // `0` follows `/`.
  const range = { _id: { $gt: `${tenantId}/${first}/`, $lt: `${tenantId}/${last}0` } };
  const rows = await runQuery(({ totals }) => totals.find(range, { sums: 1 }).lean<TotalsRow[]>().exec());
  return rows.map(({ _id, sums }) => ({ ...partsOf(_id), sums }));
}

/** The sums of one day, of a type of events or a webhook. */
export type DaySums = Awaited<ReturnType<typeof findSums>>[number];
