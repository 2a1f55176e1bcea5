import { TOPICS } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, upsertMerged } from '../documents.js';
import { DAY_MS, HOUR_MS } from '../endpoint-health/view-health.js';

/** A number of events and their amount in cents. */
export interface Sum {
  readonly events: number;
  readonly cents: number;
}

/**
 * The sums of one tenant's day: the accepted events of one type, or the deliveries to one webhook by their status. A
 * delivery counts on the day on which its event was accepted.
 */
export interface TotalsRow {
  /** `tenantId/YYYY-MM-DD/` and a type of events, or the ref of a webhook. */
  readonly _id: string;
  readonly sums: Readonly<Record<string, Sum>>;
  /** For each partition, the offset below which everything is counted. */
  readonly offsets: Readonly<Record<string, number>>;
  readonly version: number;
  readonly expiresAt: Date;
}

/** The position of a record. `partition` names the topic, too, and contains no `.`. */
export interface Position {
  readonly partition: string;
  readonly offset: number;
}

const PREFIXES: Readonly<Record<string, string>> = {
  [TOPICS.attempts]: 'attempts',
  [TOPICS.deadLetters]: 'dead-letters',
};

export const positionOf = ({
  topic,
  partition,
  offset,
}: Pick<KafkaRecord, 'topic' | 'partition' | 'offset'>): Position => ({
  partition: `${PREFIXES[topic] ?? topic}-${partition}`,
  offset,
});

/** The sum of a day's events of one type. */
export const ACCEPTED = 'accepted';

/** One fact to count: what it adds to each sum, `-1` or `1` times its amount. */
export interface Counted extends Position {
  readonly tenantId: string;
  /** When the event was accepted, Unix milliseconds. */
  readonly acceptedAt: number;
  /** A type of events, or the ref of a webhook. */
  readonly of: string;
  readonly cents: number;
  readonly adds: Readonly<Record<string, 1 | -1>>;
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

/** Returns the document with the facts that it has not counted yet; undefined when it has counted all. */
function add(retentionMs: number, known: TotalsRow | undefined, facts: readonly Counted[], id: string) {
  const day = id.split('/')[1] ?? '';
  const before = known ?? {
    _id: id,
    sums: {},
    offsets: {},
    version: 0,
    expiresAt: new Date(endOf(day) + retentionMs),
  };
  const fresh = facts.filter(({ partition, offset }) => offset >= (before.offsets[partition] ?? 0));
  if (fresh.length === 0) return undefined;
  const sums: Record<string, Sum> = { ...before.sums };
  const offsets: Record<string, number> = { ...before.offsets };
  for (const { partition, offset, cents, adds } of fresh) {
    offsets[partition] = Math.max(offsets[partition] ?? 0, offset + 1);
    for (const [name, sign] of Object.entries(adds))
      sums[name] = plus(sums[name] ?? NOTHING, { events: 1, cents }, sign);
  }
  return { ...before, sums, offsets, version: before.version + 1 };
}

type TotalsModel = Model<TotalsRow>;
export type RunTotalsQuery = RunQuery<{ readonly totals: TotalsModel }>;

export function totalsModelOn(connection: Connection): TotalsModel {
  const schema = documentSchema<TotalsRow>();
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<TotalsRow>('Totals', schema, 'totals');
}

/**
 * Counts facts. Idempotent: a fact whose record is counted is skipped. The facts of one partition must come in the order
 * of their offsets. `retentionMs`: how long a day is stored.
 */
export const countFacts = (
  runQuery: RunTotalsQuery,
  facts: readonly Counted[],
  retentionMs: number,
): Promise<void> =>
  upsertMerged<TotalsRow, readonly Counted[]>(
    (statement) => runQuery(({ totals }) => statement(totals.collection)),
    Map.groupBy(facts, ({ tenantId, acceptedAt, of }) => `${tenantId}/${dayOf(acceptedAt)}/${of}`),
    (known, changes, id) => add(retentionMs, known, changes, id),
  );

/**
 * Returns the sums of a tenant's days from `first` to `last`, by day and then by type of events or ref: one document each,
 * by the index of `_id`.
 */
export async function findSums(
  runQuery: RunTotalsQuery,
  tenantId: string,
  first: string,
  last: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, TotalsRow['sums']>>> {
  // `0` follows `/`.
  const range = { _id: { $gt: `${tenantId}/${first}/`, $lt: `${tenantId}/${last}0` } };
  const rows = await runQuery(({ totals }) => totals.find(range, { sums: 1 }).lean<TotalsRow[]>().exec());
  const days = Map.groupBy(rows, ({ _id }) => _id.split('/')[1] ?? '');
  return new Map(
    [...days].map(([day, own]) => [
      day,
      new Map(own.map(({ _id, sums }) => [_id.split('/')[2] ?? '', sums])),
    ]),
  );
}
