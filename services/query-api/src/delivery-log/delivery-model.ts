import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { lastOf } from './delivery.js';
import type { Delivery, LastAttempt } from './delivery.js';
import { placeOf } from './place.js';

/** A delivery as a document of the collection `deliveries`, with what it is found and listed by. */
export interface DeliveryRow extends Omit<Delivery, 'deliveryId'> {
  readonly _id: string;
  readonly last?: LastAttempt;
  /** See `placeOf`. */
  readonly place: string;
  readonly expiresAt: Date;
  /** Rises with each write, from 1. */
  readonly version: number;
}

/** A delivery as lists and jobs read it. */
export interface ListedDelivery extends Omit<Delivery, 'attempts' | 'truncated' | 'history'> {
  readonly last?: LastAttempt | undefined;
  readonly place: string;
}

/** The fields that a list does not read, and the document that is left. */
export const UNLISTED = { attempts: 0, truncated: 0, history: 0 } as const;
export type ListedRow = Omit<DeliveryRow, keyof typeof UNLISTED>;
export type DeliveryModel = Model<DeliveryRow>;

const DAY_MS = 86_400_000;
/** A delivery of which nothing was heard for so long is forgotten. */
const KEPT_MS = 30 * DAY_MS;

const text = { type: String, required: true } as const;
const count = { type: Number, required: true } as const;
const mixed = { type: Schema.Types.Mixed, required: true } as const;

export function deliveryModelOn(connection: Connection): DeliveryModel {
  const schema = new Schema<DeliveryRow>(
    {
      _id: text,
      tenantId: text,
      ref: text,
      eventId: text,
      eventType: text,
      createdAt: count,
      updatedAt: count,
      state: mixed,
      attempts: { type: [Schema.Types.Mixed], required: true },
      truncated: { type: Boolean },
      history: { type: Schema.Types.Mixed },
      last: { type: Schema.Types.Mixed },
      place: text,
      expiresAt: { type: Date, required: true },
      version: count,
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  // Each one costs every delivery. Lists, counts and jobs, with any of status, type and times (delivery-filter.ts):
  schema.index({ tenantId: 1, 'state.status': 1, eventType: 1, place: 1 });
  // the same of one endpoint, and the oldest pending delivery of its health;
  schema.index({ tenantId: 1, ref: 1, 'state.status': 1, place: 1 });
  // the deliveries of one event: one for each endpoint at most;
  schema.index({ tenantId: 1, eventId: 1 });
  // and retention: the database itself removes what expired.
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<DeliveryRow>('Delivery', schema, 'deliveries');
}

/** A delivery as its document. */
export function toRow({ deliveryId, ...known }: Delivery, version: number): DeliveryRow {
  const last = lastOf(known);
  return {
    _id: deliveryId,
    ...known,
    ...(last ? { last } : {}),
    place: placeOf(known.createdAt, deliveryId),
    expiresAt: new Date(known.updatedAt + KEPT_MS),
    version,
  };
}

/** A document as the delivery it was made of. */
export function toDelivery({ _id, ...row }: DeliveryRow): Delivery {
  const { last: _last, place: _place, expiresAt: _expiresAt, version: _version, ...known } = row;
  return { deliveryId: _id, ...known };
}

export const toListed = ({ _id, ...row }: ListedRow): ListedDelivery => ({ deliveryId: _id, ...row });
