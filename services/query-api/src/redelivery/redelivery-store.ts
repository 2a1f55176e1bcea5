import { isDuplicate } from '@webhooks/mongodb';
import type { Ask } from '@webhooks/mongodb';
import type { JobStep, RedeliveryJob } from './redelivery-job.js';
import { toJob } from './redelivery-model.js';
import type { RedeliveryModel, RedeliveryRow } from './redelivery-model.js';

/** How long a job is remembered after its last change. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

type AskJobs = Ask<RedeliveryModel>;
type Now = () => number;

const touched = (now: Now) => ({ updatedAt: new Date(now()), expiresAt: new Date(now() + KEPT_MS) });
const lean = (row: RedeliveryRow | null): RedeliveryJob | undefined => (row ? toJob(row) : undefined);

export interface JobsWish {
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Sorts after every UUID. */
const LAST_ID = 'g';
const slotOf = (tenantId: string, number: number): string => `${tenantId}/${number}`;

/** Whether the row is there now: not when its slot is taken. */
async function insertRow(ask: AskJobs, row: RedeliveryRow): Promise<boolean> {
  try {
    await ask((model) => model.insertOne(row));
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** What callers do with jobs. */
function jobsOf(ask: AskJobs, now: Now) {
  const find = async (tenantId: string, id: string): Promise<RedeliveryJob | undefined> =>
    lean(await ask((model) => model.findOne({ _id: id, tenantId }).lean<RedeliveryRow>().exec()));
  return {
    find,
    /** Whether it is made: not when the tenant has `maxRunning` that run. Each running job holds a number of its own. */
    insert: async (job: RedeliveryJob, maxRunning: number): Promise<boolean> => {
      const { id, position: _position, noted: _noted, ...fields } = job;
      const row = { _id: id, ...fields, leaseUntil: new Date(now()), expiresAt: new Date(now() + KEPT_MS) };
      for (let number = 0; number < maxRunning; number += 1)
        if (await insertRow(ask, { ...row, slot: slotOf(job.tenantId, number) })) return true;
      return false;
    },

    countRunning: (tenantId: string, limit: number): Promise<number> => {
      const slots = Array.from({ length: limit }, (_, number) => slotOf(tenantId, number));
      return ask((model) => model.countDocuments({ slot: { $in: slots } }).exec());
    },

    /** The newest first, those before `before` when that is given: an id. */
    list: async (
      tenantId: string,
      { before = LAST_ID, limit }: JobsWish,
    ): Promise<readonly RedeliveryJob[]> => {
      const rows = await ask((model) =>
        model
          .find({ tenantId, _id: { $lt: before }, expiresAt: { $gt: new Date(now()) } })
          .sort({ _id: -1 })
          .limit(limit)
          .lean<RedeliveryRow[]>()
          .exec(),
      );
      return rows.map(toJob);
    },

    /** Ends a running job; one that has ended stays as it is. Undefined: no such job. */
    cancel: async (tenantId: string, id: string): Promise<RedeliveryJob | undefined> => {
      const cancelled = await ask((model) =>
        model
          .findOneAndUpdate(
            { _id: id, tenantId, state: 'running' },
            { $set: { state: 'cancelled', ...touched(now) }, $unset: { leaseUntil: 1, owner: 1, slot: 1 } },
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

    /** Notes the page that is about to be sent; whether the job still runs and is ours. */
    note: async ({ id }: RedeliveryJob, owner: string, { counts, position }: JobStep): Promise<boolean> => {
      const held = { _id: id, owner, state: 'running', leaseUntil: { $gt: new Date(now()) } } as const;
      const noted = { owner, counts, ...(position ? { position } : {}) };
      const result = await ask((model) => model.updateOne(held, { $set: { noted } }).exec());
      return result.matchedCount > 0;
    },

    /** Counts the page that was noted and gives the job back; of one that was cancelled meanwhile only the counts. */
    advance: async (job: RedeliveryJob, owner: string, { counts, position }: JobStep): Promise<void> => {
      const increments = Object.entries(counts).map(([name, value]) => [`counts.${name}`, value] as const);
      const counted = { $inc: Object.fromEntries(increments) };
      const next = position
        ? { $set: { ...touched(now), position, leaseUntil: new Date(now()) }, $unset: { owner: 1, noted: 1 } }
        : {
            $set: { ...touched(now), state: 'completed' as const },
            $unset: { owner: 1, leaseUntil: 1, slot: 1, noted: 1 },
          };
      const held = { _id: job.id, owner, state: 'running' } as const;
      const result = await ask((model) => model.updateOne(held, { ...next, ...counted }).exec());
      if (result.matchedCount > 0) return;
      // Of a job that goes on, whoever has taken it counts the page: it knows the note.
      const left = { _id: job.id, state: 'cancelled', 'noted.owner': owner } as const;
      await ask((model) => model.updateOne(left, { ...counted, $unset: { noted: 1 } }).exec());
    },
  };
}

export type RedeliveryStore = ReturnType<typeof redeliveryStoreOf>;

/** The jobs in MongoDB; every change is one atomic change of one document. */
export const redeliveryStoreOf = (ask: AskJobs, now: Now) => ({ ...jobsOf(ask, now), ...leasesOf(ask, now) });
