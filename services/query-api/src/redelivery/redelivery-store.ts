import type { Ask } from '@webhooks/mongodb';
import type { JobCounts, JobPosition, RedeliveryJob } from './redelivery-job.js';
import { toJob } from './redelivery-model.js';
import type { RedeliveryModel, RedeliveryRow } from './redelivery-model.js';

/** How long a job is remembered after its last change. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/** A step of a job that its lease holder has done. */
export interface JobStep {
  /** Added to the counts. */
  readonly counts: JobCounts;
  /** Undefined: there is nothing behind what was done, the job is completed. */
  readonly position: JobPosition | undefined;
}

type AskJobs = Ask<RedeliveryModel>;
type Now = () => number;

const touched = (now: Now) => ({ updatedAt: new Date(now()), expiresAt: new Date(now() + KEPT_MS) });
const lean = (row: RedeliveryRow | null): RedeliveryJob | undefined => (row ? toJob(row) : undefined);

/** What callers do with jobs. */
function jobsOf(ask: AskJobs, now: Now) {
  const find = async (tenantId: string, id: string): Promise<RedeliveryJob | undefined> =>
    lean(await ask((model) => model.findOne({ _id: id, tenantId }).lean<RedeliveryRow>().exec()));
  return {
    find,
    insert: async ({ id, position: _, ...job }: RedeliveryJob): Promise<void> => {
      const row = { _id: id, ...job, leaseUntil: new Date(now()), expiresAt: new Date(now() + KEPT_MS) };
      await ask((model) => model.insertOne(row));
    },

    countRunning: (tenantId: string, limit: number): Promise<number> =>
      ask((model) => model.countDocuments({ tenantId, state: 'running' }).limit(limit).exec()),

    /** Ends a running job; one that has ended stays as it is. Undefined: no such job. */
    cancel: async (tenantId: string, id: string): Promise<RedeliveryJob | undefined> => {
      const cancelled = await ask((model) =>
        model
          .findOneAndUpdate(
            { _id: id, tenantId, state: 'running' },
            { $set: { state: 'cancelled', ...touched(now) }, $unset: { leaseUntil: 1, owner: 1 } },
            { returnDocument: 'after' },
          )
          .lean<RedeliveryRow>()
          .exec(),
      );
      return cancelled ? toJob(cancelled) : find(tenantId, id);
    },
  };
}

/** What the instances do that work through them. */
function leasesOf(ask: AskJobs, now: Now) {
  return {
    /** Takes the running job that has waited longest and that nobody holds; it is ours for `leaseMs`. */
    claim: async (owner: string, leaseMs: number): Promise<RedeliveryJob | undefined> =>
      lean(
        await ask((model) =>
          model
            .findOneAndUpdate(
              { leaseUntil: { $lte: new Date(now()) } },
              { $set: { owner, leaseUntil: new Date(now() + leaseMs) } },
              { sort: { leaseUntil: 1 }, returnDocument: 'after' },
            )
            .lean<RedeliveryRow>()
            .exec(),
        ),
      ),

    /** Whether the job still runs and is ours. */
    holds: async ({ id }: RedeliveryJob, owner: string): Promise<boolean> => {
      const held = { _id: id, owner, state: 'running', leaseUntil: { $gt: new Date(now()) } } as const;
      return (await ask((model) => model.findOne(held, { _id: 1 }).lean().exec())) !== null;
    },

    /** Notes what was done and gives the job back; of one that was cancelled or taken meanwhile only the counts. */
    advance: async (job: RedeliveryJob, owner: string, { counts, position }: JobStep): Promise<void> => {
      const increments = Object.entries(counts).map(([name, value]) => [`counts.${name}`, value] as const);
      const counted = { $inc: Object.fromEntries(increments) };
      const next = position
        ? { $set: { ...touched(now), position, leaseUntil: new Date(now()) }, $unset: { owner: 1 as const } }
        : {
            $set: { ...touched(now), state: 'completed' as const },
            $unset: { owner: 1 as const, leaseUntil: 1 as const },
          };
      const held = { _id: job.id, owner, state: 'running' } as const;
      const result = await ask((model) => model.updateOne(held, { ...next, ...counted }).exec());
      if (result.matchedCount === 0) await ask((model) => model.updateOne({ _id: job.id }, counted).exec());
    },
  };
}

export type RedeliveryStore = ReturnType<typeof redeliveryStoreOf>;

/** The jobs in MongoDB; every change is one atomic change of one document. */
export const redeliveryStoreOf = (ask: AskJobs, now: Now) => ({ ...jobsOf(ask, now), ...leasesOf(ask, now) });
