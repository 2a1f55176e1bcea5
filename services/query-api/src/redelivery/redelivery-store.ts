import type { EventType } from '@webhooks/contracts';
import { isDuplicate } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, expiring } from '../documents.js';

/**
 * Statuses of deliveries that can be sent again together: what is pending is under way by itself. `missed`: events of which
 * there is no delivery to the endpoint.
 */
export const REDELIVERABLE = ['dead', 'cancelled', 'delivered', 'missed'] as const;

/** Which deliveries a job names; all members that are given must match. */
export interface RedeliveryFilter {
  readonly ref?: string;
  readonly eventType?: EventType;
  readonly status: (typeof REDELIVERABLE)[number];
  /** First attempted, or missed and appended, at or after this time. */
  readonly from: Date;
  /** The same, before this time; never later than when the job was made. */
  readonly to: Date;
}

/** What became of the deliveries that a job has come by. */
export interface JobCounts {
  /** Given to Kafka. */
  readonly sent: number;
  /** Their webhook was disabled, gone to another event type, or unknown. */
  readonly refused: number;
  /** Their notification is not kept any more. */
  readonly expired: number;
}

/** A job as a document of the collection `redeliveries`. */
export interface RedeliveryJob {
  /** A UUID of version 7: it sorts as the time at which the job was made. */
  readonly _id: string;
  readonly tenantId: string;
  readonly filter: RedeliveryFilter;
  readonly state: 'running' | 'completed' | 'cancelled';
  /** Deliveries that matched when it was made; what changes its status meanwhile is left alone. */
  readonly matched: number;
  /** There were too many to count them all while the caller waited: `matched` or more. */
  readonly matchedIsLowerBound: boolean;
  readonly counts: JobCounts;
  /** Place of the delivery, or event, after which it goes on; pages are read in this order. */
  readonly position?: string;
  /** Until when no other instance takes it. */
  readonly leaseUntil: Date;
  /** Who took it last. */
  readonly owner?: string;
  /** `tenantId/number` while it runs: a tenant has as many running jobs as there are numbers, at most. */
  readonly slot?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A filter as a caller sees it. */
export const viewFilter = ({ from, to, ...rest }: RedeliveryFilter) => ({
  ...rest,
  from: from.toISOString(),
  to: to.toISOString(),
});

/** A job as a caller sees it. */
export const viewJob = ({ _id, filter, counts, createdAt, updatedAt, ...job }: RedeliveryJob) => ({
  id: _id,
  state: job.state,
  filter: viewFilter(filter),
  matched: job.matched,
  matchedIsLowerBound: job.matchedIsLowerBound,
  ...counts,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

type RedeliveryModel = Model<RedeliveryJob>;

export function redeliveryModelOn(connection: Connection, keptMs: number): RedeliveryModel {
  const schema = documentSchema<RedeliveryJob>();
  schema.index({ tenantId: 1, _id: 1 });
  // Only a job that runs has a slot.
  schema.index({ slot: 1 }, { unique: true, sparse: true });
  schema.index({ updatedAt: 1 }, expiring(keptMs));
  return connection.model<RedeliveryJob>('Redelivery', schema, 'redeliveries');
}

/** Sorts after every UUID. */
const LAST_ID = 'g';

type RunJobQuery = RunQuery<RedeliveryModel>;
type Now = () => number;

/** What callers do with jobs. */
function jobsOf(runQuery: RunJobQuery, now: Now) {
  const find = (tenantId: string, id: string): Promise<RedeliveryJob | null> =>
    runQuery((model) => model.findOne({ _id: id, tenantId }).lean<RedeliveryJob>().exec());
  return {
    find,
    /** Whether it is made: not when the tenant has `maxRunning` that run. Each running job holds a number of its own. */
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

    /** The newest first, those before the id `before` when that is given. */
    list: (tenantId: string, limit: number, before = LAST_ID): Promise<readonly RedeliveryJob[]> => {
      const filter = { tenantId, _id: { $lt: before } };
      return runQuery((model) =>
        model.find(filter).sort({ _id: -1 }).limit(limit).lean<RedeliveryJob[]>().exec(),
      );
    },

    /** Ends a running job; one that has ended stays as it is. Null: no such job. */
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

/** What the instances do that work through them. */
const leasesOf = (runQuery: RunJobQuery, now: Now) => ({
  /** Takes the running job that has waited longest and that nobody holds; it is ours for `leaseMs`. */
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
   * Counts a page that was sent and gives the job back, behind `next`; without one it is completed. Nothing changes when
   * another instance has taken it; of one that was cancelled meanwhile the page counts.
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

/** The jobs in MongoDB; every change is one atomic change of one document. */
export const redeliveryStoreOf = (runQuery: RunJobQuery, now: Now) => ({
  ...jobsOf(runQuery, now),
  ...leasesOf(runQuery, now),
});
