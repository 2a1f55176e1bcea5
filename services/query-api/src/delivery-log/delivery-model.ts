import { LIVE_RETENTION_MS, MAX_TIME_MS } from '@webhooks/contracts';
import type { FanOutEntry } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import type { Delivery, DeliveryStatus } from './delivery.js';
import { documentSchema, expiring } from '../documents.js';
import { keyOf } from '../payments/event-store.js';

/** Characters of the latest time that an entry may have: 10. */
const TIME_LENGTH = MAX_TIME_MS.toString(36).length;

/** A time as text that sorts as the time does. Times before 1970 are 1970. */
export const timeText = (ms: number): string => Math.max(0, ms).toString(36).padStart(TIME_LENGTH, '0');

/**
 * Place of a delivery among those of its tenant, as one text that sorts as (`createdAt`, `deliveryId`) do. It never changes
 * with the status, so pages neither skip nor repeat what changes between them; and a page that begins behind it is
 * one range of an index, without an `$or`.
 */
export const placeOf = (createdAt: number, deliveryId: string): string =>
  `${timeText(createdAt)}${deliveryId}`;

const PLACE = /^[0-9a-z]{10}[a-z2-7]{52}$/;

export const isPlace = (text: string): boolean =>
  PLACE.test(text) && Number.parseInt(text.slice(0, TIME_LENGTH), 36) <= MAX_TIME_MS;

/** A delivery as a document of the collection `deliveries`, with what it is listed by. */
export interface DeliveryRow extends Omit<Delivery, 'deliveryId' | 'updatedAt'> {
  readonly _id: string;
  /** A date: the database removes what is too old. */
  readonly updatedAt: Date;
  /** Its status when it is not delivered, as few are: partial indexes have only those. */
  readonly undelivered?: DeliveryStatus;
  /** See `placeOf`. */
  readonly place: string;
  /** Rises with each write, from 1. */
  readonly version: number;
}

export type DeliveryModel = Model<DeliveryRow>;

// `$exists` says the same, but SecantusDB would not use such an index.
const UNDELIVERED = { partialFilterExpression: { undelivered: { $gt: '' } } } as const;

export function deliveryModelOn(connection: Connection, keptMs: number): DeliveryModel {
  const schema = documentSchema<DeliveryRow>();
  // Each one costs every delivery. Lists, counts and jobs of a tenant, with any times and types;
  schema.index({ tenantId: 1, place: 1 });
  // the same of one endpoint;
  schema.index({ tenantId: 1, ref: 1, place: 1 });
  // of one status: almost all are delivered, so only the few others are in it;
  schema.index({ tenantId: 1, undelivered: 1, place: 1 }, UNDELIVERED);
  // of one endpoint and status, and the oldest pending delivery of its health;
  schema.index({ tenantId: 1, ref: 1, undelivered: 1, place: 1 }, UNDELIVERED);
  // the deliveries of one event: one for each endpoint at most;
  schema.index({ tenantId: 1, eventId: 1 });
  // and the retention.
  schema.index({ updatedAt: 1 }, expiring(keptMs));
  return connection.model<DeliveryRow>('Delivery', schema, 'deliveries');
}

/** A delivery as its document. */
export const toRow = ({ deliveryId, updatedAt, ...known }: Delivery, version: number): DeliveryRow => ({
  _id: deliveryId,
  ...known,
  updatedAt: new Date(updatedAt),
  ...(known.state.status === 'delivered' ? {} : { undelivered: known.state.status }),
  place: placeOf(known.createdAt, deliveryId),
  version,
});

/** A document as the delivery it was made of. */
export function toDelivery({ _id, updatedAt, ...row }: DeliveryRow): Delivery {
  const { undelivered: _undelivered, place: _place, version: _version, ...known } = row;
  return { deliveryId: _id, ...known, updatedAt: updatedAt.getTime() };
}

/** An event whose deliveries are made a slice at a time, as a document of the collection `fan_outs`. */
export interface FanOutRow {
  /** `tenantId/eventId`. */
  readonly _id: string;
  readonly isOpen: boolean;
  readonly at: Date;
}

type RunFanOutQuery = RunQuery<{ readonly fanOuts: Model<FanOutRow> }>;

export function fanOutModelOn(connection: Connection): Model<FanOutRow> {
  const schema = documentSchema<FanOutRow>();
  // As long as `webhooks.fan-outs` keeps a record: one that was damaged ends by then.
  schema.index({ at: 1 }, expiring(LIVE_RETENTION_MS));
  return connection.model<FanOutRow>('FanOut', schema, 'fan_outs');
}

/** Its end may be read before its beginning: that changes nothing then. */
const writeOf = ({ tenantId, eventId, at, isOpen }: FanOutEntry) => {
  const told = { isOpen, at: new Date(at) };
  const update = isOpen ? { $setOnInsert: told } : { $set: told };
  return { updateOne: { filter: { _id: keyOf(tenantId, eventId) }, update, upsert: true } };
};

export async function keepFanOuts(runQuery: RunFanOutQuery, entries: readonly FanOutEntry[]): Promise<void> {
  if (entries.length > 0)
    await runQuery(({ fanOuts }) => fanOuts.bulkWrite(entries.map(writeOf), { ordered: false }));
}

/** Of these events those of which more deliveries will be made. */
export const findOpen = async (
  runQuery: RunFanOutQuery,
  keys: readonly string[],
): Promise<ReadonlySet<string>> =>
  new Set(
    await runQuery(({ fanOuts }) => fanOuts.distinct('_id', { _id: { $in: keys }, isOpen: true }).exec()),
  );
