import type { DeliveryTask } from '@webhooks/contracts';
import type { Configurations } from '../configurations/open-configurations.js';
import type { PublishTasks } from './publish-tasks.js';
import { cycleOf, makeRedelivery, refusalOf } from './redelivery-task.js';
import type { PastDelivery } from './redelivery-task.js';
import type { RedeliveryFilter, RedeliveryJob } from './redelivery-job.js';
import type { RedeliveryStore } from './redelivery-store.js';

/** A delivery of the log, with what a job has to know of it. */
export interface LoggedDelivery extends PastDelivery {
  /** Its latest cycle. */
  readonly cycle: string;
  /** Where it lies among the others, as a text that sorts. */
  readonly place: string;
}

interface Page {
  readonly rows: readonly LoggedDelivery[];
  /** The place after which the next page begins; absent when there is nothing behind. */
  readonly next?: string | undefined;
}

export interface RunRedeliveriesPorts {
  /** The jobs, for a few statements from now on. */
  readonly storeFor: () => Pick<RedeliveryStore, 'claim' | 'note' | 'advance'>;
  /** Those that match now, oldest first, after a place; a page can be short, even empty, and others behind it not. */
  readonly pageDeliveries: (
    tenantId: string,
    filter: RedeliveryFilter,
    page: { readonly after: string | undefined; readonly limit: number },
  ) => Promise<Page>;
  /** The bytes of several notifications by event id; those that are not kept any more are left out. */
  readonly findBodies: (
    tenantId: string,
    eventIds: readonly string[],
  ) => Promise<ReadonlyMap<string, Buffer>>;
  readonly configurations: Pick<Configurations, 'known' | 'upToDate'>;
  readonly publish: PublishTasks;
  readonly now: () => number;
  /** Name of this instance. */
  readonly owner: string;
  /** Deliveries a second that one instance gives back to the workers, so that live traffic does not suffer. */
  readonly ratePerSecond: number;
}

const MAX_PAGE = 100;
/**
 * After it another instance goes on where this one died. Longer than a page takes: 2 s for the configurations, 10 s for
 * reading, 3 s for Kafka, 4 s for each of three statements about the job.
 */
const LEASE_MS = 30_000;

interface Sorted {
  readonly tasks: readonly DeliveryTask[];
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
}

async function sortOut(
  { id, tenantId }: RedeliveryJob,
  page: readonly LoggedDelivery[],
  { configurations, findBodies, now }: RunRedeliveriesPorts,
): Promise<Sorted> {
  const cycle = cycleOf(id);
  // Sent by this job already, before a crash: it counts, and is not sent again.
  const fresh = page.filter((delivery) => delivery.cycle !== cycle);
  const bodies = await findBodies(tenantId, [...new Set(fresh.map(({ eventId }) => eventId))]);
  const tasks: DeliveryTask[] = [];
  let refused = 0;
  for (const delivery of fresh) {
    const configuration = configurations.known(tenantId, delivery.ref);
    const body = bodies.get(delivery.eventId);
    if (configuration === undefined || refusalOf(delivery, configuration) !== undefined) refused += 1;
    else if (body) tasks.push(makeRedelivery(delivery, configuration, { cycle, now: now(), body }));
  }
  const sent = tasks.length + page.length - fresh.length;
  return { tasks, sent, refused, expired: page.length - sent - refused };
}

/** The next page of a job; or that which was noted before a crash, as the log has it now: never a shorter one. */
const readPage = (
  { tenantId, filter, position, noted }: RedeliveryJob,
  { pageDeliveries, ratePerSecond }: RunRedeliveriesPorts,
): Promise<Page> =>
  pageDeliveries(tenantId, filter, {
    after: position,
    limit: noted ? MAX_PAGE : Math.min(MAX_PAGE, ratePerSecond),
  });

/**
 * How many of the page that was noted before a crash have another status by now: they were sent, and are not found again.
 * Too low, never too high, where others have come to lie among them meanwhile.
 */
function countGone({ noted }: RedeliveryJob, rows: Page['rows']): number {
  if (!noted) return 0;
  const { counts, position: end } = noted;
  const found = rows.filter(({ place }) => end === undefined || place <= end);
  return Math.max(0, counts.sent + counts.refused + counts.expired - found.length);
}

/**
 * Does one page of the job that has waited longest. It notes what the page comes to, publishes and counts, so that a crash
 * repeats a page and leaves none out, also those that came to match meanwhile; what was sent before the crash and has another
 * status by then is counted from the note. Repeats have the same cycle, and what is known to be sent is not sent again.
 * Resolves with the milliseconds to wait before the next page, undefined when there is no job: what the page itself took is waited already.
 */
export async function runPage(ports: RunRedeliveriesPorts): Promise<number | undefined> {
  const { storeFor, configurations, owner, ratePerSecond, now } = ports;
  const begunAt = now();
  const job = await storeFor().claim(owner, LEASE_MS);
  if (!job) return undefined;
  await configurations.upToDate();
  const page = await readPage(job, ports);
  const { tasks, ...counts } = await sortOut(job, page.rows, ports);
  const sent = counts.sent + countGone(job, page.rows);
  const step = { counts: { ...counts, sent }, position: page.next };
  // It may have been cancelled meanwhile, or this instance may have been so slow that another one has taken it.
  if (!(await storeFor().note(job, owner, step))) return 0;
  if (tasks.length > 0) await ports.publish(tasks);
  await storeFor().advance(job, owner, step);
  const intervalMs = (tasks.length / ratePerSecond) * 1_000;
  // A clock that was set back counts for nothing.
  const takenMs = Math.max(0, now() - begunAt);
  return Math.max(0, intervalMs - takenMs);
}
