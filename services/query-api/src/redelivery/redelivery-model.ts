import type { EventType } from '@webhooks/contracts';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import type { JobState, RedeliverableStatus, RedeliveryJob } from './redelivery-job.js';

/** A job as a document of the collection `redeliveries`. */
export interface RedeliveryRow {
  _id: string;
  tenantId: string;
  filter: { ref?: string; eventType?: EventType; status: RedeliverableStatus; from: Date; to: Date };
  state: JobState;
  matched: number;
  counts: { sent: number; refused: number; expired: number };
  position?: { createdAt: Date; deliveryId: string };
  createdAt: Date;
  updatedAt: Date;
  /** While it runs: until when another instance leaves it alone. */
  leaseUntil?: Date;
  /** Who holds the lease. */
  owner?: string;
  /** 30 days after its last change. */
  expiresAt: Date;
}

export type RedeliveryModel = Model<RedeliveryRow>;

const text = { type: String, required: true } as const;
const count = { type: Number, required: true } as const;
const time = { type: Date, required: true } as const;
const part = (fields: Record<string, object>) => new Schema(fields, { _id: false });

function createSchema(): Schema<RedeliveryRow> {
  const filter = part({
    ref: { type: String },
    eventType: { type: String },
    status: text,
    from: time,
    to: time,
  });
  const schema = new Schema<RedeliveryRow>(
    {
      _id: text,
      tenantId: text,
      filter: { type: filter, required: true },
      state: text,
      matched: count,
      counts: { type: part({ sent: count, refused: count, expired: count }), required: true },
      position: { type: part({ createdAt: time, deliveryId: text }) },
      createdAt: time,
      updatedAt: time,
      leaseUntil: { type: Date },
      owner: { type: String },
      expiresAt: time,
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  schema.index({ tenantId: 1, state: 1 });
  // Only a job that runs has a lease.
  schema.index({ leaseUntil: 1 }, { sparse: true });
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return schema;
}

export const redeliveryModelOn = (connection: Connection): RedeliveryModel =>
  connection.model<RedeliveryRow>('Redelivery', createSchema(), 'redeliveries');

/** A document as the rest of the service knows it. */
export function toJob({ _id, filter, position, ...row }: RedeliveryRow): RedeliveryJob {
  const { tenantId, state, matched, counts, createdAt, updatedAt } = row;
  return {
    id: _id,
    tenantId,
    filter,
    state,
    matched,
    counts,
    ...(position ? { position } : {}),
    createdAt,
    updatedAt,
  };
}
