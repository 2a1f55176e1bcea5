import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { placeOf } from './place.js';

/** The place of one in 256 deliveries of a tenant: a document of the collection `milestones`. */
export interface MilestoneRow {
  /** `tenantId/place`. */
  readonly _id: string;
  readonly tenantId: string;
  readonly place: string;
  readonly expiresAt: Date;
}

export type MilestoneModel = Model<MilestoneRow>;

const DAY_MS = 86_400_000;
/** Longer than its delivery, which a redelivery may renew; without it the delivery is found all the same. */
const KEPT_MS = 90 * DAY_MS;

const text = { type: String, required: true } as const;

export function milestoneModelOn(connection: Connection): MilestoneModel {
  const schema = new Schema<MilestoneRow>(
    { _id: text, tenantId: text, place: text, expiresAt: { type: Date, required: true } },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  schema.index({ tenantId: 1, place: 1 });
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<MilestoneRow>('Milestone', schema, 'milestones');
}

/** One in 256 (1/32 of 4/32): an id is base32 of a digest, so its first two characters are evenly spread. */
export const isMilestone = (deliveryId: string): boolean => /^a[a-d]/.test(deliveryId);

export function toMilestoneRow(tenantId: string, deliveryId: string, createdAt: number): MilestoneRow {
  const place = placeOf(createdAt, deliveryId);
  return { _id: `${tenantId}/${place}`, tenantId, place, expiresAt: new Date(createdAt + KEPT_MS) };
}
