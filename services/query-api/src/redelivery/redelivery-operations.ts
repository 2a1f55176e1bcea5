import { AppError, readQuery } from '@webhooks/http-api';
import type { OpenRequests, Operation, QueryParameters } from '@webhooks/http-api';
import { LIMIT, LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { UUID, readDeliveryId, readRedeliveryId } from '../path-ids.js';
import { redeliverOne } from './redeliver-one.js';
import type { RedeliverOnePorts } from './redeliver-one.js';
import { viewJob } from './redelivery-job.js';
import type { RedeliveryJob } from './redelivery-job.js';
import { readRedeliveryRequest } from './redelivery-request.js';
import type { RedeliveryStore } from './redelivery-store.js';
import { startRedelivery } from './start-redelivery.js';
import type { StartRedeliveryPorts } from './start-redelivery.js';

export interface RedeliveryParts
  extends Omit<StartRedeliveryPorts, 'storeFor'>, Omit<RedeliverOnePorts, 'now'> {
  /** The jobs, for all that one request asks of them. */
  readonly storeFor: () => RedeliveryStore;
  /** What the database counts at once. */
  readonly lists: Pick<OpenRequests, 'run'>;
}

const WEBHOOKS = '/integration/v1/webhooks';
const JOBS = `${WEBHOOKS}/redeliveries`;
const MAX_BODY_BYTES = 4_096;
const READ = ['delivery.read'] as const;
const WRITE = ['delivery.write'] as const;

/** The same pages as those of deliveries; a cursor is the id of the last job of a page. */
export const JOBS_PARAMETERS: QueryParameters<{ readonly limit: number; readonly cursor: string }> = {
  limit: LIST_PARAMETERS.limit,
  cursor: { ...LIST_PARAMETERS.cursor, parse: (text) => (UUID.test(text) ? text : undefined) },
};

const found = (job: RedeliveryJob | null): RedeliveryJob => {
  if (job) return job;
  throw new AppError('not-found', 'there is no redelivery with this id');
};

async function listJobs(tenantId: string, query: URLSearchParams, store: RedeliveryStore) {
  const { limit = LIMIT, cursor } = readQuery(query, JOBS_PARAMETERS);
  // One more tells whether there is a next page.
  const jobs = await store.list(tenantId, { before: cursor, limit: limit + 1 });
  const data = jobs.slice(0, limit).map(viewJob);
  const last = jobs.length > limit ? data.at(-1) : undefined;
  return { data, results: data.length, ...(last ? { nextCursor: last.id } : {}) };
}

/** Making redeliveries, of one delivery and of many. */
const sendingOperations = (parts: RedeliveryParts): readonly Operation[] => [
  {
    method: 'POST',
    path: `${WEBHOOKS}/deliveries/:deliveryId/redeliver`,
    scopes: WRITE,
    handle: async (request) => ({
      status: 202,
      body: await redeliverOne(request.identity.tenantId, readDeliveryId(request), parts),
    }),
  },
  {
    method: 'POST',
    path: JOBS,
    scopes: WRITE,
    maxBodyBytes: MAX_BODY_BYTES,
    handle: async (request) => {
      const wanted = readRedeliveryRequest(request);
      const { identity } = request;
      return parts.lists.run(identity, () => startRedelivery(identity.tenantId, wanted, parts));
    },
  },
];

/** Looking at the jobs that redeliver many, and ending them. */
const jobOperations = ({ storeFor }: Pick<RedeliveryParts, 'storeFor'>): readonly Operation[] => [
  {
    method: 'GET',
    path: JOBS,
    scopes: READ,
    query: JOBS_PARAMETERS,
    handle: async ({ identity, query }) => ({
      status: 200,
      body: await listJobs(identity.tenantId, query, storeFor()),
    }),
  },
  {
    method: 'GET',
    path: `${JOBS}/:id`,
    scopes: READ,
    handle: async (request) => {
      const id = readRedeliveryId(request);
      const job = await storeFor().find(request.identity.tenantId, id);
      return { status: 200, body: viewJob(found(job)) };
    },
  },
  {
    method: 'POST',
    path: `${JOBS}/:id/cancel`,
    scopes: WRITE,
    handle: async (request) => {
      const id = readRedeliveryId(request);
      const job = await storeFor().cancel(request.identity.tenantId, id);
      return { status: 200, body: viewJob(found(job)) };
    },
  },
];

/** Redelivering one delivery, and the jobs that redeliver many. */
export const redeliveryOperations = (parts: RedeliveryParts): readonly Operation[] => [
  ...sendingOperations(parts),
  ...jobOperations(parts),
];
