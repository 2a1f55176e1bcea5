import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { expiring } from '../retention.js';
import type { Delivery, DeliveryStatus } from './delivery.js';
import { placeOf } from './place.js';

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
  const schema = new Schema<DeliveryRow>(
    { _id: { type: String, required: true } },
    { versionKey: false, strict: false },
  );
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
