import { compileCheck, EVENT_TYPES, isEventType, PATTERNS } from '@webhooks/contracts';
import type { UtcTime } from '@webhooks/contracts';
import { AppError, invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Identity } from '@webhooks/http-api';
import type { Configurations } from '../configurations.js';
import type { DeliveryCount } from '../delivery-log/delivery-store.js';
import { omitUndefined } from '../omit-undefined.js';
import { REDELIVERABLE, viewFilter, viewJob } from './redelivery-store.js';
import type { RedeliveryFilter, RedeliveryJob, RedeliveryStore } from './redelivery-store.js';
import { refusalError } from './redelivery-task.js';
import { parseTime } from '../request-parameters.js';

export interface RedeliveryRequest {
  /** `to` is absent when the caller left it out; it then means now. */
  readonly filter: Omit<RedeliveryFilter, 'to'> & { readonly to?: Date };
  /** True: only counts the deliveries that would be sent. */
  readonly dryRun: boolean;
}

interface RedeliveryBody extends Partial<Omit<RedeliveryFilter, 'from' | 'to'>> {
  readonly from: UtcTime;
  readonly to?: UtcTime;
  readonly dryRun?: boolean;
}

const checkBody = compileCheck<RedeliveryBody>({
  type: 'object',
  additionalProperties: false,
  required: ['from'],
  properties: {
    ref: { type: 'string', pattern: PATTERNS.givenRef, description: 'must be a UUID' },
    eventType: { type: 'string', enum: EVENT_TYPES },
    status: { type: 'string', enum: REDELIVERABLE },
    from: { type: 'string', format: 'utc-date-time' },
    to: { type: 'string', format: 'utc-date-time' },
    dryRun: { type: 'boolean' },
  },
});

/** Never undefined: the schema has checked the text. */
const timeOf = (text: UtcTime): Date => parseTime(text) ?? new Date(text);

/** Reads the body of `POST …/redeliveries`; `status` is `dead` by default. Throws 422 with the faults. */
export function readRedeliveryRequest(request: ApiRequest): RedeliveryRequest {
  const { from, to, ref, dryRun = false, status = 'dead', ...rest } = readJson(request, checkBody);
  return {
    filter: {
      ...rest,
      ...omitUndefined({ ref: ref?.toLowerCase(), to: to === undefined ? undefined : timeOf(to) }),
      status,
      from: timeOf(from),
    },
    dryRun,
  };
}

export interface StartRedeliveryPorts {
  /** Opens the store of jobs for a few statements. */
  readonly storeFor: () => Pick<RedeliveryStore, 'insert'>;
  /** Counts the matches, up to `max` and for about 4 s. */
  readonly countMatches: (tenantId: string, filter: RedeliveryFilter, max: number) => Promise<DeliveryCount>;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Most running jobs of one tenant. */
const MAX_RUNNING = 5;
/** Most deliveries of one job. */
export const MAX_MATCHED = 1_000_000;
/**
 * Longest time from an event's append until its first attempt is in the log: 30 s for the attempt (`timeoutMs`), and
 * 10 s for queueing and reading.
 */
export const UNDER_WAY_MS = 40_000;

const refuse = (property: string, reason: string): AppError => invalidRequest([{ property, reason }]);

function refuseRange({ from, to, status, ref }: RedeliveryRequest['filter'], now: number): void {
  if (to && from >= to) throw refuse('from', 'must be before to');
  if (from.getTime() >= now) throw refuse('from', 'lies in the future');
  if (status === 'missed' && !ref) throw refuse('ref', 'is required: `missed` concerns one webhook');
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
  if (!enabled && !dryRun) throw refusalError('disabled');
  if (filter.status !== 'missed') return range;
  if (!isEventType(eventType)) throw refuse('ref', 'is of an alert endpoint, which misses no event');
  return { eventType, ...range };
}

/**
 * Creates a job that sends again the deliveries that match now, or only counts them (`dryRun`). Throws 404 for a ref
 * that the tenant does not have. Throws 422 when the webhook is disabled, `missed` names an alert endpoint, more than
 * 1,000,000 deliveries were counted, or five jobs are running.
 */
export async function startRedelivery(
  { tenantId, clientId, personId }: Pick<Identity, 'tenantId' | 'clientId' | 'personId'>,
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
    startedBy: { client: clientId, ...omitUndefined({ person: personId }) },
    filter,
    state: 'running',
    ...counted,
    counts: { sent: 0, refused: 0, expired: 0 },
    leaseUntil: filter.status === 'missed' ? new Date(filter.to.getTime() + UNDER_WAY_MS) : at,
    createdAt: at,
    updatedAt: at,
  };
  if (!(await ports.storeFor().insert(job, MAX_RUNNING)))
    throw new AppError('limit-reached', `${MAX_RUNNING} redeliveries of this tenant are already running`);
  return { status: 202, body: viewJob(job) };
}
