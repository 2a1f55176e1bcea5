import { AppError, invalidRequest } from '@webhooks/http-api';
import type { ApiReply } from '@webhooks/http-api';
import type { DeliveryCount } from '../delivery-log/delivery-store.js';
import type { Configurations } from '../configurations/open-configurations.js';
import { viewFilter, viewJob } from './redelivery-job.js';
import type { RedeliveryFilter, RedeliveryJob } from './redelivery-job.js';
import type { RedeliveryRequest } from './redelivery-request.js';
import type { RedeliveryStore } from './redelivery-store.js';
import { refused } from './redelivery-task.js';

export interface StartRedeliveryPorts {
  /** The jobs, for a few statements from now on. */
  readonly storeFor: () => Pick<RedeliveryStore, 'insert'>;
  /** How many match, counted to `max` at most, and no longer than a caller waits. */
  readonly countMatches: (tenantId: string, filter: RedeliveryFilter, max: number) => Promise<DeliveryCount>;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Jobs of one tenant that run at the same time, and deliveries that one job may name. */
const MAX_RUNNING = 5;
export const MAX_MATCHED = 1_000_000;
/** A first attempt is in the log so long after its event was appended: 30 s at most (`timeoutMs`), and 10 s to be queued and read. */
const UNDER_WAY_MS = 40_000;

const refuse = (property: string, reason: string): AppError => invalidRequest([{ property, reason }]);

function refuseRange({ from, to, status, ref }: RedeliveryRequest['filter'], now: number): void {
  if (to && from >= to) throw refuse('from', 'must be before to');
  if (from.getTime() >= now) throw refuse('from', 'lies in the future');
  if (status === 'missed' && !ref) throw refuse('ref', 'must be given: one webhook has missed them');
}

async function filterOf(
  tenantId: string,
  { filter, dryRun }: RedeliveryRequest,
  { configurations, now }: StartRedeliveryPorts,
): Promise<RedeliveryFilter> {
  const at = now();
  refuseRange(filter, at);
  const range = { ...filter, to: new Date(Math.min(filter.to?.getTime() ?? at, at)) };
  if (filter.ref === undefined) return range;
  const { enabled, eventType } = await configurations.current(tenantId, filter.ref);
  if (!enabled && !dryRun) throw refused('disabled');
  return filter.status === 'missed' ? { eventType, ...range } : range;
}

/**
 * Makes a job that sends again what matches now, or only counts it (`dryRun`). Throws 404 for a ref that the tenant does
 * not have, 422 when it is disabled, when too much matches or too many jobs run.
 */
export async function startRedelivery(
  tenantId: string,
  request: RedeliveryRequest,
  ports: StartRedeliveryPorts,
): Promise<ApiReply> {
  const filter = await filterOf(tenantId, request, ports);
  const { matched, isLowerBound } = await ports.countMatches(tenantId, filter, MAX_MATCHED + 1);
  if (matched > MAX_MATCHED)
    throw new AppError('limit-reached', `more than ${MAX_MATCHED} deliveries match; narrow the time range`);
  const counted = { matched, matchedIsLowerBound: isLowerBound };
  if (request.dryRun) return { status: 200, body: { dryRun: true, filter: viewFilter(filter), ...counted } };
  const at = new Date(ports.now());
  const job: RedeliveryJob = {
    _id: ports.newId(),
    tenantId,
    filter,
    state: 'running',
    ...counted,
    counts: { sent: 0, refused: 0, expired: 0 },
    leaseUntil: filter.status === 'missed' ? new Date(filter.to.getTime() + UNDER_WAY_MS) : at,
    createdAt: at,
    updatedAt: at,
  };
  if (!(await ports.storeFor().insert(job, MAX_RUNNING)))
    throw new AppError('limit-reached', `${MAX_RUNNING} redeliveries of this tenant run already`);
  return { status: 202, body: viewJob(job) };
}
