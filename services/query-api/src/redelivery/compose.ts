import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { PATTERNS } from '@webhooks/contracts';
import { AppError, createConcurrencyLimiter, matching, pageOf, readQuery, refOf } from '@webhooks/http-api';
import type { ApiRequest, ConcurrencyLimiter, Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { repeatUntilClose } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database.js';
import { LIMIT, LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { findEvent } from '../payments/find-events.js';
import { countMatches, readJobPage } from './job-pages.js';
import type { PageParts } from './job-pages.js';
import { redeliveryStoreOf, viewJob } from './redelivery-store.js';
import type { RedeliveryStore } from './redelivery-store.js';
import { runPage } from './run-redeliveries.js';
import type { RunRedeliveriesPorts } from './run-redeliveries.js';
import { redeliverOne, sendEvent, sendTest } from './send-one.js';
import type { SendPorts } from './send-one.js';
import { readRedeliveryRequest, startRedelivery } from './start-redelivery.js';
import type { StartRedeliveryPorts } from './start-redelivery.js';
import { readRedeliveryId } from '../request-parameters.js';

export interface RedeliveryParts extends Omit<StartRedeliveryPorts, 'storeFor'>, Omit<SendPorts, 'now'> {
  /** Opens the store of jobs for one request. */
  readonly storeFor: () => RedeliveryStore;
  /** Limits the counts that the database runs at once. */
  readonly lists: Pick<ConcurrencyLimiter, 'run'>;
}

const DELIVERIES = '/integration/v1/webhooks/deliveries';
const JOBS = '/integration/v1/webhooks/redeliveries';
const MAX_BODY_BYTES = 4_096;
const READ = ['delivery.read'] as const;
const WRITE = ['delivery.write'] as const;

/** The same parameters as for lists of deliveries. A cursor is the id of the last job of a page. */
export const JOBS_PARAMETERS = {
  limit: LIST_PARAMETERS.limit,
  cursor: matching(PATTERNS.ref, LIST_PARAMETERS.cursor.expected),
};

async function listJobs(tenantId: string, query: URLSearchParams, store: RedeliveryStore) {
  const { limit = LIMIT, cursor } = readQuery(query, JOBS_PARAMETERS);
  // One job more shows whether there is a next page.
  return pageOf(await store.list(tenantId, limit + 1, cursor), limit, viewJob, ({ _id }) => _id);
}

/** The operations that send one event to one webhook. */
const sendOperations = (parts: RedeliveryParts): readonly Operation[] => [
  {
    method: 'POST',
    path: DELIVERIES,
    scopes: WRITE,
    maxBodyBytes: MAX_BODY_BYTES,
    handle: async (request) => ({ status: 202, body: await sendEvent(request, parts) }),
  },
  {
    method: 'POST',
    path: `${DELIVERIES}/:deliveryId/redeliver`,
    scopes: WRITE,
    handle: async (request) => ({ status: 202, body: await redeliverOne(request, parts) }),
  },
  {
    method: 'POST',
    path: '/integration/v1/webhooks/:ref/test',
    scopes: WRITE,
    handle: async (request) => ({
      status: 202,
      body: await sendTest(request.identity.tenantId, refOf(request), parts),
    }),
  },
];

export function redeliveryOperations(parts: RedeliveryParts): readonly Operation[] {
  // One count for each tenant at a time; `lists` bounds the counts of all tenants.
  const counts = createConcurrencyLimiter({ total: Infinity, perTenant: 1 });
  const withJob = (act: 'find' | 'cancel') => async (request: ApiRequest) => {
    const id = readRedeliveryId(request);
    const job = await parts.storeFor()[act](request.identity.tenantId, id);
    if (!job) throw new AppError('not-found', 'there is no redelivery with this id');
    return { status: 200, body: viewJob(job) };
  };
  return [
    ...sendOperations(parts),
    {
      method: 'POST',
      path: JOBS,
      scopes: WRITE,
      maxBodyBytes: MAX_BODY_BYTES,
      handle: async (request) => {
        const wanted = readRedeliveryRequest(request);
        const { identity } = request;
        const start = () => startRedelivery(identity, wanted, parts);
        return counts.run(identity, () => parts.lists.run(identity, start));
      },
    },
    {
      method: 'GET',
      path: JOBS,
      scopes: READ,
      query: JOBS_PARAMETERS,
      handle: async ({ identity, query }) => ({
        status: 200,
        body: await listJobs(identity.tenantId, query, parts.storeFor()),
      }),
    },
    { method: 'GET', path: `${JOBS}/:id`, scopes: READ, handle: withJob('find') },
    { method: 'POST', path: `${JOBS}/:id/cancel`, scopes: WRITE, handle: withJob('cancel') },
  ];
}

interface RedeliveryOptions
  extends
    PageParts,
    Pick<RedeliveryParts, 'findDelivery' | 'lists'>,
    Pick<RunRedeliveriesPorts, 'catchUp' | 'publish' | 'ratePerSecond'> {
  readonly database: Database;
  readonly configurations: RunRedeliveriesPorts['configurations'] & StartRedeliveryPorts['configurations'];
}

/** How often an instance polls for a job while there is none. */
const POLL_MS = 500;

/** Runs the jobs of all tenants, one page of each in turn, until the service closes. */
function runRedeliveryJobs(ports: RunRedeliveriesPorts, scope: ServiceScope): void {
  const work = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const pauseMs = signal.aborted ? undefined : await runPage(ports);
      if (pauseMs === undefined) return;
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  repeatUntilClose({ name: 'redelivering', everyMs: POLL_MS, work }, scope);
}

/** Composes redelivery: one delivery by a request, many by jobs that all instances share. */
export function composeRedelivery(options: RedeliveryOptions, scope: ServiceScope): readonly Operation[] {
  const { database, catchUp } = options;
  const now = (): number => Date.now();
  const storeFor = () => {
    const runQuery = database.within(REQUEST_MS);
    return redeliveryStoreOf((statement) => runQuery(({ redeliveries }) => statement(redeliveries)), now);
  };
  const readPage: RunRedeliveriesPorts['readPage'] = (job, limit) => readJobPage(job, limit, options);
  runRedeliveryJobs({ ...options, storeFor, readPage, now, owner: randomUUID() }, scope);
  return redeliveryOperations({
    ...options,
    storeFor,
    log: scope.log,
    findEvent: (tenantId, id) => findEvent(database.within(REQUEST_MS), tenantId, id, catchUp),
    countMatches: (tenantId, filter, max) => countMatches(tenantId, filter, max, options),
    newId: uuidv7,
    now,
  });
}
