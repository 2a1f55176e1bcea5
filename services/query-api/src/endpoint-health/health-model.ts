import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import type { HealthBucket } from './health-bucket.js';

/** A bucket as a document of the collection `endpointHealth`. */
export interface HealthRow extends HealthBucket {
  /** `tenantId/ref/startAt`, the last as 13 digits: the buckets of an endpoint lie side by side. */
  readonly _id: string;
  /** By partition of the attempts: everything below is counted. What is read again is not counted again. */
  readonly offsets: Readonly<Record<string, number>>;
  /** By partition, the last packs that are counted: one that was produced again lies above the offset. */
  readonly packs?: Readonly<Record<string, readonly string[]>>;
  readonly version: number;
  readonly expiresAt: Date;
}

export type HealthModel = Model<HealthRow>;

export function healthModelOn(connection: Connection): HealthModel {
  const schema = new Schema<HealthRow>(
    { _id: { type: String, required: true }, expiresAt: { type: Date, required: true } },
    { versionKey: false, strictQuery: 'throw' },
  );
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<HealthRow>('EndpointHealth', schema, 'endpointHealth');
}

export const healthId = (tenantId: string, ref: string, startAt: number): string =>
  `${tenantId}/${ref}/${String(startAt).padStart(13, '0')}`;
