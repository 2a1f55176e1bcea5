import type { DeliveryTask } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import type { Configurations } from '../configurations.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import type { Candidate, CandidatePage } from './job-pages.js';
import type { JobCounts, RedeliveryJob, RedeliveryStore } from './redelivery-store.js';
import { cycleOf, makeTask, refusalOf } from './redelivery-task.js';
import type { PublishTasks } from './redelivery-task.js';

export interface RunRedeliveriesPorts {
  /** Opens the jobs for a few statements. */
  readonly storeFor: () => Pick<RedeliveryStore, 'claim' | 'advance'>;
  /** Deliveries that match now, oldest first, behind the job's position. */
  readonly readPage: (job: RedeliveryJob, limit: number) => Promise<CandidatePage>;
  /** Waits until everything that is on the topics now is projected. */
  readonly catchUp: () => Promise<CatchUpResult>;
  readonly configurations: Pick<Configurations, 'known' | 'upToDate'>;
  readonly publish: PublishTasks;
  readonly now: () => number;
  /** Name of this instance. */
  readonly owner: string;
  /** Deliveries that one instance passes in a second, so that live traffic does not suffer. */
  readonly ratePerSecond: number;
}

const MAX_PAGE = 100;
/**
 * After this another instance continues the job. A page takes less: 2 s for configurations and log, 16 s for reading,
 * 3 s for Kafka, 4 s to count.
 */
const LEASE_MS = 30_000;

function sortOut(
  { _id, tenantId }: RedeliveryJob,
  page: readonly Candidate[],
  { configurations, now }: RunRedeliveriesPorts,
): { readonly tasks: readonly DeliveryTask[]; readonly counts: JobCounts } {
  const cycle = cycleOf(_id);
  const tasks: DeliveryTask[] = [];
  let [known, refused] = [0, 0];
  for (const candidate of page) {
    const { body } = candidate;
    const configuration = configurations.known(tenantId, candidate.ref);
    // This job sent it before a crash, so it counts and is not sent again.
    if (candidate.cycle === cycle) known += 1;
    else if (configuration === undefined || refusalOf(candidate, configuration) !== undefined) refused += 1;
    else if (body) tasks.push(makeTask(candidate, configuration, { cycle, now: now(), body }));
  }
  const sent = tasks.length + known;
  return { tasks, counts: { sent, refused, expired: page.length - sent - refused } };
}

/** What is not projected yet is neither missed nor expired. */
async function waitForLog({ position }: RedeliveryJob, ports: RunRedeliveriesPorts): Promise<void> {
  if (position === undefined && (await ports.catchUp()) !== 'passed')
    throw new AppError('unavailable', 'a job begins only when the newest records are read');
}

/**
 * Does one page of the job that has waited longest: reads, publishes and counts it. A crash in between repeats the
 * page with the same cycle and leaves none out. Deliveries with another status by then are not counted again.
 * Resolves with the milliseconds to wait before the next page, undefined when there is no job.
 */
export async function runPage(ports: RunRedeliveriesPorts): Promise<number | undefined> {
  const { storeFor, readPage, configurations, publish, owner, ratePerSecond, now } = ports;
  const begunAt = now();
  const job = await storeFor().claim(owner, LEASE_MS);
  if (!job) return undefined;
  await Promise.all([configurations.upToDate(), waitForLog(job, ports)]);
  const limit = Math.min(MAX_PAGE, ratePerSecond);
  const page = await readPage(job, limit);
  const { tasks, counts } = sortOut(job, page.candidates, ports);
  if (tasks.length > 0) await publish(tasks);
  await storeFor().advance(job, owner, counts, page.next);
  // Refused and delivered events cost the database as much as sent ones.
  const looked = page.next === undefined ? page.candidates.length : limit;
  const intervalMs = (looked / ratePerSecond) * 1_000;
  // A clock that was set back counts as 0.
  const takenMs = Math.max(0, now() - begunAt);
  return Math.max(0, intervalMs - takenMs);
}
