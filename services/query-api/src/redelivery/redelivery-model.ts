import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { expiring } from '../retention.js';
import type { RedeliveryJob } from './redelivery-job.js';

export type RedeliveryModel = Model<RedeliveryJob>;

export function redeliveryModelOn(connection: Connection, keptMs: number): RedeliveryModel {
  const schema = new Schema<RedeliveryJob>(
    { _id: { type: String, required: true } },
    { versionKey: false, strict: false, strictQuery: false, minimize: false },
  );
  schema.index({ tenantId: 1, _id: 1 });
  // Only a job that runs has a slot.
  schema.index({ slot: 1 }, { unique: true, sparse: true });
  schema.index({ updatedAt: 1 }, expiring(keptMs));
  return connection.model<RedeliveryJob>('Redelivery', schema, 'redeliveries');
}
