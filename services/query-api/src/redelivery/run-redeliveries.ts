import type { DeliveryTask } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import type { Configurations } from '../configurations.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import type { Candidate, CandidatePage } from './job-pages.js';
import type { JobCounts, RedeliveryJob, RedeliveryStore } from './redelivery-store.js';
import { cycleOf, makeTask, refusalOf } from './redelivery-task.js';
import type { PublishTasks } from './redelivery-task.js';

export interface RunRedeliveriesPorts {
  /** Opens the store of jobs for a few statements. */
  readonly storeFor: () => Pick<RedeliveryStore, 'claim' | 'advance'>;
  /** Returns the deliveries that match now, oldest first, after the job's position. */
  readonly readPage: (job: RedeliveryJob, limit: number) => Promise<CandidatePage>;
  /** Waits until everything that is on the topics now is projected. */
  readonly catchUp: () => Promise<CatchUpResult>;
  readonly configurations: Pick<Configurations, 'known' | 'upToDate'>;
  readonly publish: PublishTasks;
  readonly now: () => number;
  /** Name of this instance. */
  readonly owner: string;
  /** Deliveries that one instance processes in a second. The bound protects live traffic. */
  readonly ratePerSecond: number;
}

const MAX_PAGE = 100;
/**
 * Lease of a job; after it another instance may claim the job. A page takes less: 4 s for the claim, 2 s for configurations
 * and log, 16 s for reading, 3 s for Kafka, 4 s for counting.
 */
const LEASE_MS = 30_000;

/**
 * Makes the tasks of a page, and counts its candidates by result. Candidates of a later cycle are left out and not
 * counted: they were sent again after the job began, and the log would ignore the result of an earlier cycle.
 */
function makeTasks(
  { _id, tenantId }: RedeliveryJob,
  page: readonly Candidate[],
  { configurations, now }: RunRedeliveriesPorts,
): { readonly tasks: readonly DeliveryTask[]; readonly counts: JobCounts } {
  const cycle = cycleOf(_id);
  const tasks: DeliveryTask[] = [];
  let [sentBefore, refused] = [0, 0];
  const due = page.filter((candidate) => (candidate.cycle ?? '') <= cycle);
  for (const candidate of due) {
    const { body } = candidate;
    const configuration = configurations.known(tenantId, candidate.ref);
    // The job sent this delivery before a crash. It is counted, and not sent again.
    if (candidate.cycle === cycle) sentBefore += 1;
    else if (configuration === undefined || refusalOf(candidate, configuration) !== undefined) refused += 1;
    else if (body) tasks.push(makeTask(candidate, configuration, { cycle, now: now(), body }));
  }
  const sent = tasks.length + sentBefore;
  return { tasks, counts: { sent, refused, expired: due.length - sent - refused } };
}

/** Waits before the first page of a job: a delivery that is not projected yet would look missed or expired. */
async function waitForLog({ position }: RedeliveryJob, ports: RunRedeliveriesPorts): Promise<void> {
  if (position === undefined && (await ports.catchUp()) !== 'passed')
    throw new AppError('unavailable', 'a job begins only when the newest records are read');
}

/**
 * Runs one page of the job that has waited longest: reads, publishes and counts its deliveries. After a crash the page
 * is repeated with the same cycle, so no delivery is left out. Deliveries whose status has changed by then are not
 * counted again. Resolves with the milliseconds to wait before the next page; undefined when there is no job.
 */
export async function runPage(ports: RunRedeliveriesPorts): Promise<number | undefined> {
  const { storeFor, readPage, configurations, publish, owner, ratePerSecond, now } = ports;
  const begunAt = now();
  const job = await storeFor().claim(owner, LEASE_MS);
  if (!job) return undefined;
  await Promise.all([configurations.upToDate(), waitForLog(job, ports)]);
  const limit = Math.min(MAX_PAGE, ratePerSecond);
  const page = await readPage(job, limit);
  const { tasks, counts } = makeTasks(job, page.candidates, ports);
  if (tasks.length > 0) await publish(tasks);
  await storeFor().advance(job, owner, counts, page.next);
  // Refused and delivered events cost the database as much as sent ones.
  const processed = page.next === undefined ? page.candidates.length : limit;
  const intervalMs = (processed / ratePerSecond) * 1_000;
  // Negative when the clock was set back.
  const takenMs = Math.max(0, now() - begunAt);
  return Math.max(0, intervalMs - takenMs);
}
