import { LIVE_RETENTION_MS } from '@webhooks/contracts';
import type { FanOutEntry } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import type { Delivery, DeliveryStatus } from './delivery-state.js';
import { deduplicate, fromHistory } from './merge-entries.js';
import { documentSchema, expiring, placeOf } from '../documents.js';
import { keyOf } from '../payments/event-store.js';
import type { Position } from '../statements/daily-totals.js';

/** A change of a delivery's status, and the record that reported it. It is counted once; see `countFacts`. */
export interface Move extends Position {
  readonly from?: DeliveryStatus;
  readonly to: DeliveryStatus;
}

/** A delivery as a document of the collection `deliveries`, with the fields that lists filter by. */
export interface DeliveryRow extends Omit<Delivery, 'deliveryId' | 'updatedAt'> {
  readonly _id: string;
  /** A `Date`, because a TTL index needs one. */
  readonly updatedAt: Date;
  /** The status, unless it is `delivered`. Few documents have this field, and partial indexes contain only those. */
  readonly undelivered?: DeliveryStatus;
  /** By `createdAt`; see `placeOf`. */
  readonly place: string;
  /** The attempts that only a dead letter reports, in a document of version 1.0. */
  readonly history?: { readonly cycle: string; readonly text: string };
  /** The latest changes of the status, at most `MAX_MOVES`. */
  readonly moves?: readonly Move[];
  /** Rises with each write, from 1. */
  readonly version: number;
}

export type DeliveryModel = Model<DeliveryRow>;

// `$exists` means the same, but SecantusDB does not use such an index.
const UNDELIVERED = { partialFilterExpression: { undelivered: { $gt: '' } } } as const;

export function deliveryModelOn(connection: Connection, retentionMs: number): DeliveryModel {
  const schema = documentSchema<DeliveryRow>();
  // Every index adds to the cost of each write. For lists, counts and jobs of a tenant;
  schema.index({ tenantId: 1, place: 1 });
  // for those of one endpoint;
  schema.index({ tenantId: 1, ref: 1, place: 1 });
  // for those of one status: this index contains only the few deliveries that are not delivered;
  schema.index({ tenantId: 1, undelivered: 1, place: 1 }, UNDELIVERED);
  // for those of one endpoint and status, and for the oldest pending delivery of an endpoint (its health);
  schema.index({ tenantId: 1, ref: 1, undelivered: 1, place: 1 }, UNDELIVERED);
  // for the deliveries of one event, at most one for each endpoint;
  schema.index({ tenantId: 1, eventId: 1 });
  // for the retention.
  schema.index({ updatedAt: 1 }, expiring(retentionMs));
  return connection.model<DeliveryRow>('Delivery', schema, 'deliveries');
}

export const toRow = ({ deliveryId, updatedAt, ...known }: Delivery, version: number): DeliveryRow => ({
  _id: deliveryId,
  ...known,
  updatedAt: new Date(updatedAt),
  ...(known.state.status === 'delivered' ? {} : { undelivered: known.state.status }),
  place: placeOf(known.createdAt, deliveryId),
  version,
});

export function toDelivery({ _id, updatedAt, history, ...row }: DeliveryRow): Delivery {
  const { undelivered: _undelivered, place: _place, moves: _moves, version: _version, ...known } = row;
  const attempts = deduplicate([...known.attempts, ...fromHistory(history?.cycle, history?.text)]);
  return { deliveryId: _id, ...known, attempts, updatedAt: updatedAt.getTime() };
}

/** An event whose deliveries are made in slices, as a document of the collection `fan_outs`. */
export interface FanOutRow {
  /** `tenantId/eventId`. */
  readonly _id: string;
  readonly isOpen: boolean;
  readonly at: Date;
}

type RunFanOutQuery = RunQuery<{ readonly fanOuts: Model<FanOutRow> }>;

export function fanOutModelOn(connection: Connection): Model<FanOutRow> {
  const schema = documentSchema<FanOutRow>();
  // As long as Kafka stores a record of `webhooks.fan-outs`: a damaged one never reports its end.
  schema.index({ at: 1 }, expiring(LIVE_RETENTION_MS));
  return connection.model<FanOutRow>('FanOut', schema, 'fan_outs');
}

/** The entry of the end may be read before that of the beginning. The beginning then changes nothing. */
const writeOf = ({ tenantId, eventId, at, isOpen }: FanOutEntry) => {
  const row = { isOpen, at: new Date(at) };
  const update = isOpen ? { $setOnInsert: row } : { $set: row };
  return { updateOne: { filter: { _id: keyOf(tenantId, eventId) }, update, upsert: true } };
};

/** Records which events have deliveries still to be made. Idempotent, in any order. */
export async function storeFanOuts(runQuery: RunFanOutQuery, entries: readonly FanOutEntry[]): Promise<void> {
  if (entries.length > 0)
    await runQuery(({ fanOuts }) => fanOuts.bulkWrite(entries.map(writeOf), { ordered: false }));
}

/** Returns those keys (`tenantId/eventId`) whose events are to get more deliveries. */
export const findOpen = async (
  runQuery: RunFanOutQuery,
  keys: readonly string[],
): Promise<ReadonlySet<string>> =>
  new Set(
    await runQuery(({ fanOuts }) => fanOuts.distinct('_id', { _id: { $in: keys }, isOpen: true }).exec()),
  );
