import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { placeOf } from './place.js';

/** Deliveries of a tenant between two fine milestones, and between two coarse ones, on average. */
export const FINE = 32;
export const COARSE = 2_048;

/** The place of one in so many deliveries of a tenant: a document of the collection `milestones`. */
export interface MilestoneRow {
  /** `tenantId/every/place`. */
  readonly _id: string;
  readonly tenantId: string;
  readonly every: typeof FINE | typeof COARSE;
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
    {
      _id: text,
      tenantId: text,
      every: { type: Number, required: true },
      place: text,
      expiresAt: { type: Date, required: true },
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  schema.index({ tenantId: 1, every: 1, place: 1 });
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<MilestoneRow>('Milestone', schema, 'milestones');
}

/** One in 32, and of those one in 64 (1/32 of 16/32): an id is base32 of a digest, so its characters are evenly spread. */
const IS_FINE = /^a/;
const IS_COARSE = /^aa[a-p]/;

/** What a delivery is a milestone of, mostly nothing; a coarse one is a fine one too. */
export function milestonesOf(
  tenantId: string,
  deliveryId: string,
  createdAt: number,
): readonly MilestoneRow[] {
  if (!IS_FINE.test(deliveryId)) return [];
  const place = placeOf(createdAt, deliveryId);
  const expiresAt = new Date(createdAt + KEPT_MS);
  const rowOf = (every: MilestoneRow['every']): MilestoneRow => ({
    _id: `${tenantId}/${every}/${place}`,
    tenantId,
    every,
    place,
    expiresAt,
  });
  return IS_COARSE.test(deliveryId) ? [rowOf(FINE), rowOf(COARSE)] : [rowOf(FINE)];
}
