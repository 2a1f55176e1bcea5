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
  matchedIsLowerBound: boolean;
  counts: { sent: number; refused: number; expired: number };
  position?: string;
  /** The page that its owner is sending. */
  noted?: {
    owner: string;
    counts: { sent: number; refused: number; expired: number };
    position?: string;
  };
  createdAt: Date;
  updatedAt: Date;
  /** While it runs: until when another instance leaves it alone. */
  leaseUntil?: Date;
  /** Who holds the lease. */
  owner?: string;
  /** `tenantId/number` while it runs: a tenant has as many running jobs as there are numbers, at most. */
  slot?: string;
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
  const counts = part({ sent: count, refused: count, expired: count });
  const schema = new Schema<RedeliveryRow>(
    {
      _id: text,
      tenantId: text,
      filter: { type: filter, required: true },
      state: text,
      matched: count,
      matchedIsLowerBound: { type: Boolean, required: true },
      counts: { type: counts, required: true },
      position: { type: String },
      noted: {
        type: part({ owner: text, counts: { type: counts, required: true }, position: { type: String } }),
      },
      createdAt: time,
      updatedAt: time,
      leaseUntil: { type: Date },
      owner: { type: String },
      slot: { type: String },
      expiresAt: time,
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  // An id is a UUID of version 7: it sorts as the time at which its job was made.
  schema.index({ tenantId: 1, _id: 1 });
  schema.index({ slot: 1 }, { unique: true, sparse: true });
  // Only a job that runs has a lease.
  schema.index({ leaseUntil: 1 }, { sparse: true });
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return schema;
}

export const redeliveryModelOn = (connection: Connection): RedeliveryModel =>
  connection.model<RedeliveryRow>('Redelivery', createSchema(), 'redeliveries');

/** A document as the rest of the service knows it. */
export function toJob({ _id, filter, position, noted, ...row }: RedeliveryRow): RedeliveryJob {
  const { tenantId, state, matched, matchedIsLowerBound, counts, createdAt, updatedAt } = row;
  return {
    id: _id,
    tenantId,
    filter,
    state,
    matched,
    matchedIsLowerBound,
    counts,
    ...(position ? { position } : {}),
    ...(noted ? { noted: { counts: noted.counts, position: noted.position } } : {}),
    createdAt,
    updatedAt,
  };
}
