import type { EventType } from '@webhooks/contracts';
import { isDuplicate } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, expiring } from '../documents.js';

/**
 * Statuses of deliveries that a job can send again. `missed`: events without a delivery to the endpoint. Pending
 * deliveries are sent without a job.
 */
export const REDELIVERABLE = ['dead', 'cancelled', 'delivered', 'missed'] as const;

/** Selects the deliveries of a job. All fields that are present must match. */
export interface RedeliveryFilter {
  readonly ref?: string;
  readonly eventType?: EventType;
  readonly status: (typeof REDELIVERABLE)[number];
  /** Earliest first attempt, or for `missed` the earliest append; inclusive. */
  readonly from: Date;
  /** End of that range, exclusive; never later than the start of the job. */
  readonly to: Date;
}

/** Results of the deliveries that a job has processed. */
export interface JobCounts {
  /** Published to Kafka. */
  readonly sent: number;
  /** Not sent: the webhook is disabled, has another event type, or is unknown. */
  readonly refused: number;
  /** Not sent: the notification is no longer stored. */
  readonly expired: number;
}

/** A job as a document of the collection `redeliveries`. */
export interface RedeliveryJob {
  /** A UUID of version 7, which sorts by the time at which the job was created. */
  readonly _id: string;
  readonly tenantId: string;
  /** `person`: the opaque `sub` of the person for whom the client acted. */
  readonly startedBy: { readonly client: string; readonly person?: string };
  readonly filter: RedeliveryFilter;
  readonly state: 'running' | 'completed' | 'cancelled';
  /** Deliveries that matched at the start. */
  readonly matched: number;
  /** True when counting ended early: at least `matched` deliveries match. */
  readonly matchedIsLowerBound: boolean;
  readonly counts: JobCounts;
  /** Position of the delivery or event after which the job continues; absent at the start. */
  readonly position?: string;
  /** Until this time no other instance claims the job. */
  readonly leaseUntil: Date;
  /** The instance that claimed the job last. */
  readonly owner?: string;
  /** `tenantId/number` while the job runs. The numbers bound the running jobs of a tenant. */
  readonly slot?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A filter as callers see it. */
export const viewFilter = ({ from, to, ...rest }: RedeliveryFilter) => ({
  ...rest,
  from: from.toISOString(),
  to: to.toISOString(),
});

/** A job as callers see it. */
export const viewJob = ({ _id, filter, counts, createdAt, updatedAt, ...job }: RedeliveryJob) => ({
  id: _id,
  state: job.state,
  startedBy: job.startedBy,
  filter: viewFilter(filter),
  matched: job.matched,
  matchedIsLowerBound: job.matchedIsLowerBound,
  ...counts,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

type RedeliveryModel = Model<RedeliveryJob>;

export function redeliveryModelOn(connection: Connection, retentionMs: number): RedeliveryModel {
  const schema = documentSchema<RedeliveryJob>();
  schema.index({ tenantId: 1, _id: 1 });
  // Only a running job has a slot.
  schema.index({ slot: 1 }, { unique: true, sparse: true });
  schema.index({ updatedAt: 1 }, expiring(retentionMs));
  return connection.model<RedeliveryJob>('Redelivery', schema, 'redeliveries');
}

/** Sorts after every UUID. */
const LAST_ID = 'g';

type RunJobQuery = RunQuery<RedeliveryModel>;
type Now = () => number;

/** The operations for callers of the API. */
function jobsOf(runQuery: RunJobQuery, now: Now) {
  const find = (tenantId: string, id: string): Promise<RedeliveryJob | null> =>
    runQuery((model) => model.findOne({ _id: id, tenantId }).lean<RedeliveryJob>().exec());
  return {
    find,
    /** Returns false when the tenant has `maxRunning` running jobs. Each running job has another number. */
    insert: async (job: RedeliveryJob, maxRunning: number): Promise<boolean> => {
      for (let number = 0; number < maxRunning; number += 1) {
        try {
          await runQuery((model) => model.insertOne({ ...job, slot: `${job.tenantId}/${number}` }));
          return true;
        } catch (error) {
          if (!isDuplicate(error)) throw error;
        }
      }
      return false;
    },

    /** Lists jobs, the newest first. `before`: the id of the last job of the page before. */
    list: (tenantId: string, limit: number, before = LAST_ID): Promise<readonly RedeliveryJob[]> => {
      const filter = { tenantId, _id: { $lt: before } };
      return runQuery((model) =>
        model.find(filter).sort({ _id: -1 }).limit(limit).lean<RedeliveryJob[]>().exec(),
      );
    },

    /** Cancels a running job. A job that has ended does not change. Null: no such job. */
    cancel: async (tenantId: string, id: string): Promise<RedeliveryJob | null> => {
      const running = { _id: id, tenantId, state: 'running' } as const;
      const change = {
        $set: { state: 'cancelled', updatedAt: new Date(now()) },
        $unset: { slot: 1 },
      } as const;
      await runQuery((model) => model.updateOne(running, change).exec());
      return find(tenantId, id);
    },
  };
}

/** The operations for the instances that run jobs. */
const leasesOf = (runQuery: RunJobQuery, now: Now) => ({
  /** Claims for `leaseMs` the running job whose lease ended first. Null: no job is free. */
  claim: (owner: string, leaseMs: number): Promise<RedeliveryJob | null> =>
    runQuery((model) =>
      model
        .findOneAndUpdate(
          { slot: { $gt: '' }, leaseUntil: { $lte: new Date(now()) } },
          { $set: { owner, leaseUntil: new Date(now() + leaseMs) } },
          { sort: { leaseUntil: 1 }, returnDocument: 'after' },
        )
        .lean<RedeliveryJob>()
        .exec(),
    ),

  /**
   * Counts a sent page and releases the job with its next position. Without one the job is completed. Nothing changes
   * when another instance has claimed the job. When the job was cancelled meanwhile, the page is still counted.
   */
  advance: async (
    { _id }: RedeliveryJob,
    owner: string,
    { sent, refused, expired }: JobCounts,
    next: string | undefined,
  ): Promise<void> => {
    const at = new Date(now());
    const $inc = { 'counts.sent': sent, 'counts.refused': refused, 'counts.expired': expired };
    const change =
      next === undefined
        ? ({ $inc, $set: { state: 'completed', updatedAt: at }, $unset: { slot: 1 } } as const)
        : { $inc, $set: { position: next, leaseUntil: at, updatedAt: at } };
    const own = { _id, owner };
    const result = await runQuery((model) => model.updateOne({ ...own, state: 'running' }, change).exec());
    if (result.matchedCount === 0)
      await runQuery((model) => model.updateOne({ ...own, state: 'cancelled' }, { $inc }).exec());
  },
});

export type RedeliveryStore = ReturnType<typeof redeliveryStoreOf>;

/** Opens the jobs in MongoDB. Every change is one atomic change of one document. */
export const redeliveryStoreOf = (runQuery: RunJobQuery, now: Now) => ({
  ...jobsOf(runQuery, now),
  ...leasesOf(runQuery, now),
});
