import { isDuplicate } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import type { JobCounts, RedeliveryJob } from './redelivery-job.js';
import { expiring } from '../retention.js';

type RedeliveryModel = Model<RedeliveryJob>;

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

/** Sorts after every UUID. */
const LAST_ID = 'g';

type AskJobs = RunQuery<RedeliveryModel>;
type Now = () => number;

/** What callers do with jobs. */
function jobsOf(ask: AskJobs, now: Now) {
  const find = (tenantId: string, id: string): Promise<RedeliveryJob | null> =>
    ask((model) => model.findOne({ _id: id, tenantId }).lean<RedeliveryJob>().exec());
  return {
    find,
    /** Whether it is made: not when the tenant has `maxRunning` that run. Each running job holds a number of its own. */
    insert: async (job: RedeliveryJob, maxRunning: number): Promise<boolean> => {
      for (let number = 0; number < maxRunning; number += 1) {
        try {
          await ask((model) => model.insertOne({ ...job, slot: `${job.tenantId}/${number}` }));
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
      return ask((model) => model.find(filter).sort({ _id: -1 }).limit(limit).lean<RedeliveryJob[]>().exec());
    },

    /** Ends a running job; one that has ended stays as it is. Null: no such job. */
    cancel: async (tenantId: string, id: string): Promise<RedeliveryJob | null> => {
      const running = { _id: id, tenantId, state: 'running' } as const;
      const change = {
        $set: { state: 'cancelled', updatedAt: new Date(now()) },
        $unset: { slot: 1 },
      } as const;
      await ask((model) => model.updateOne(running, change).exec());
      return find(tenantId, id);
    },
  };
}

/** What the instances do that work through them. */
const leasesOf = (ask: AskJobs, now: Now) => ({
  /** Takes the running job that has waited longest and that nobody holds; it is ours for `leaseMs`. */
  claim: (owner: string, leaseMs: number): Promise<RedeliveryJob | null> =>
    ask((model) =>
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
    const result = await ask((model) => model.updateOne({ ...own, state: 'running' }, change).exec());
    if (result.matchedCount === 0)
      await ask((model) => model.updateOne({ ...own, state: 'cancelled' }, { $inc }).exec());
  },
});

export type RedeliveryStore = ReturnType<typeof redeliveryStoreOf>;

/** The jobs in MongoDB; every change is one atomic change of one document. */
export const redeliveryStoreOf = (ask: AskJobs, now: Now) => ({ ...jobsOf(ask, now), ...leasesOf(ask, now) });
