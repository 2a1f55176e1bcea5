import { LIVE_RETENTION_MS, MAX_TIME_MS } from '@webhooks/contracts';
import type { FanOutEntry } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import type { Delivery, DeliveryStatus } from './delivery-state.js';
import { documentSchema, expiring } from '../documents.js';
import { keyOf } from '../payments/event-store.js';

/** 10 characters: those of the latest time that an entry may have. */
const TIME_LENGTH = MAX_TIME_MS.toString(36).length;

/** Text that sorts as the time does. Times before 1970 become 1970. */
export const timeText = (ms: number): string => Math.max(0, ms).toString(36).padStart(TIME_LENGTH, '0');

/**
 * The place of a delivery among those of its tenant: text that sorts as (`createdAt`, `deliveryId`) do. It does not
 * change with the status, so pages neither skip nor repeat a delivery. A page is one range of an index, without an
 * `$or`.
 */
export const placeOf = (createdAt: number, deliveryId: string): string =>
  `${timeText(createdAt)}${deliveryId}`;

const PLACE = /^[0-9a-z]{10}[a-z2-7]{52}$/;

export const isPlace = (text: string): boolean =>
  PLACE.test(text) && Number.parseInt(text.slice(0, TIME_LENGTH), 36) <= MAX_TIME_MS;

/** A delivery as a document of the collection `deliveries`, with the fields that lists filter by. */
export interface DeliveryRow extends Omit<Delivery, 'deliveryId' | 'updatedAt'> {
  readonly _id: string;
  /** A date, so that the database can remove old documents. */
  readonly updatedAt: Date;
  /** Status of a delivery that is not delivered. Few have one, and partial indexes hold only those. */
  readonly undelivered?: DeliveryStatus;
  /** See `placeOf`. */
  readonly place: string;
  /** Rises with each write, from 1. */
  readonly version: number;
}

export type DeliveryModel = Model<DeliveryRow>;

// `$exists` means the same, but SecantusDB does not use such an index.
const UNDELIVERED = { partialFilterExpression: { undelivered: { $gt: '' } } } as const;

export function deliveryModelOn(connection: Connection, keptMs: number): DeliveryModel {
  const schema = documentSchema<DeliveryRow>();
  // Every index makes each delivery dearer. Lists, counts and jobs of a tenant;
  schema.index({ tenantId: 1, place: 1 });
  // of one endpoint;
  schema.index({ tenantId: 1, ref: 1, place: 1 });
  // of one status: the index holds only the few that are not delivered;
  schema.index({ tenantId: 1, undelivered: 1, place: 1 }, UNDELIVERED);
  // of one endpoint and status, and the oldest pending delivery for its health;
  schema.index({ tenantId: 1, ref: 1, undelivered: 1, place: 1 }, UNDELIVERED);
  // the deliveries of one event, at most one for each endpoint;
  schema.index({ tenantId: 1, eventId: 1 });
  // the retention.
  schema.index({ updatedAt: 1 }, expiring(keptMs));
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

export function toDelivery({ _id, updatedAt, ...row }: DeliveryRow): Delivery {
  const { undelivered: _undelivered, place: _place, version: _version, ...known } = row;
  return { deliveryId: _id, ...known, updatedAt: updatedAt.getTime() };
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
  // As long as `webhooks.fan-outs` keeps a record, so that a damaged one ends too.
  schema.index({ at: 1 }, expiring(LIVE_RETENTION_MS));
  return connection.model<FanOutRow>('FanOut', schema, 'fan_outs');
}

/** The end may be read before the beginning, which then changes nothing. */
const writeOf = ({ tenantId, eventId, at, isOpen }: FanOutEntry) => {
  const row = { isOpen, at: new Date(at) };
  const update = isOpen ? { $setOnInsert: row } : { $set: row };
  return { updateOne: { filter: { _id: keyOf(tenantId, eventId) }, update, upsert: true } };
};

export async function keepFanOuts(runQuery: RunFanOutQuery, entries: readonly FanOutEntry[]): Promise<void> {
  if (entries.length > 0)
    await runQuery(({ fanOuts }) => fanOuts.bulkWrite(entries.map(writeOf), { ordered: false }));
}

/** Finds which of these events will get more deliveries. */
export const findOpen = async (
  runQuery: RunFanOutQuery,
  keys: readonly string[],
): Promise<ReadonlySet<string>> =>
  new Set(
    await runQuery(({ fanOuts }) => fanOuts.distinct('_id', { _id: { $in: keys }, isOpen: true }).exec()),
  );
