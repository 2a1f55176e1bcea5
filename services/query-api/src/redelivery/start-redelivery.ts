import { AppError, invalidRequest } from '@webhooks/http-api';
import type { DeliveryCount } from '../delivery-log/delivery-store.js';
import type { Configurations } from '../configurations/open-configurations.js';
import { refused } from './redeliver-one.js';
import { viewFilter, viewJob } from './redelivery-job.js';
import type { JobView, RedeliveryFilter } from './redelivery-job.js';
import type { RedeliveryRequest } from './redelivery-request.js';
import type { RedeliveryStore } from './redelivery-store.js';

export interface StartRedeliveryPorts {
  /** The jobs, for a few statements from now on. */
  readonly storeFor: () => Pick<RedeliveryStore, 'insert' | 'countRunning'>;
  /** How many match, counted to `max` at most, and no longer than a caller waits. */
  readonly countDeliveries: (
    tenantId: string,
    filter: RedeliveryFilter,
    max: number,
  ) => Promise<DeliveryCount>;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Jobs of one tenant that run at the same time, and deliveries that one job may name. */
export const MAX_RUNNING = 5;
export const MAX_MATCHED = 1_000_000;

export type StartedRedelivery =
  | {
      readonly dryRun: true;
      /** What was counted, defaults filled in. */
      readonly filter: JobView['filter'];
      readonly matched: number;
      readonly matchedIsLowerBound: boolean;
    }
  | { readonly dryRun: false; readonly job: JobView };

const refuseFrom = (reason: string): AppError => invalidRequest([{ property: 'from', reason }]);

function filterOf({ filter: { to, ...filter } }: RedeliveryRequest, now: number): RedeliveryFilter {
  if (to && filter.from >= to) throw refuseFrom('must be before to');
  if (filter.from.getTime() >= now) throw refuseFrom('lies in the future');
  return { ...filter, to: new Date(Math.min(to?.getTime() ?? now, now)) };
}

const tooMany = (): AppError =>
  new AppError('limit-reached', `${MAX_RUNNING} redeliveries of this tenant run already`);

/** Before anything is counted, which takes long; two at the same moment may both pass, and the insert decides. */
async function refuseMoreJobs(tenantId: string, { storeFor }: StartRedeliveryPorts): Promise<void> {
  if ((await storeFor().countRunning(tenantId, MAX_RUNNING)) >= MAX_RUNNING) throw tooMany();
}

/**
 * Makes a job that sends again what matches now, or only counts it (`dryRun`). Throws 404 for a ref that the tenant does
 * not have, 422 when it is disabled, when too much matches or too many jobs run.
 */
export async function startRedelivery(
  tenantId: string,
  request: RedeliveryRequest,
  ports: StartRedeliveryPorts,
): Promise<StartedRedelivery> {
  const now = ports.now();
  const filter = filterOf(request, now);
  if (filter.ref !== undefined) {
    const { enabled } = await ports.configurations.current(tenantId, filter.ref);
    if (!enabled) throw refused('disabled');
  }
  if (!request.dryRun) await refuseMoreJobs(tenantId, ports);
  const { matched, isLowerBound } = await ports.countDeliveries(tenantId, filter, MAX_MATCHED + 1);
  if (matched > MAX_MATCHED)
    throw new AppError('limit-reached', `more than ${MAX_MATCHED} deliveries match; narrow the time range`);
  if (request.dryRun)
    return { dryRun: true, filter: viewFilter(filter), matched, matchedIsLowerBound: isLowerBound };
  const at = new Date(now);
  const job = {
    id: ports.newId(),
    tenantId,
    filter,
    state: 'running',
    matched,
    matchedIsLowerBound: isLowerBound,
    counts: { sent: 0, refused: 0, expired: 0 },
    createdAt: at,
    updatedAt: at,
  } as const;
  if (!(await ports.storeFor().insert(job, MAX_RUNNING))) throw tooMany();
  return { dryRun: false, job: viewJob(job) };
}
