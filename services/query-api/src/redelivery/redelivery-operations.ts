import { AppError, createOpenRequests, readQuery } from '@webhooks/http-api';
import type { ApiRequest, OpenRequests, Operation, QueryParameters } from '@webhooks/http-api';
import { LIMIT, LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { UUID, readDeliveryId, readRedeliveryId } from '../path-ids.js';
import { redeliverOne } from './redeliver-one.js';
import type { RedeliverOnePorts } from './redeliver-one.js';
import { viewJob } from './redelivery-job.js';
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

const JOBS = '/integration/v1/webhooks/redeliveries';
const MAX_BODY_BYTES = 4_096;
const READ = ['delivery.read'] as const;
const WRITE = ['delivery.write'] as const;

/** The same pages as those of deliveries; a cursor is the id of the last job of a page. */
export const JOBS_PARAMETERS: QueryParameters<{ readonly limit: number; readonly cursor: string }> = {
  limit: LIST_PARAMETERS.limit,
  cursor: { ...LIST_PARAMETERS.cursor, parse: (text) => (UUID.test(text) ? text : undefined) },
};

async function listJobs(tenantId: string, query: URLSearchParams, store: RedeliveryStore) {
  const { limit = LIMIT, cursor } = readQuery(query, JOBS_PARAMETERS);
  // One more tells whether there is a next page.
  const jobs = await store.list(tenantId, limit + 1, cursor);
  const data = jobs.slice(0, limit).map(viewJob);
  const last = jobs.length > limit ? data.at(-1) : undefined;
  return { data, results: data.length, ...(last ? { nextCursor: last.id } : {}) };
}

/** Redelivering one delivery, and making, looking at and ending the jobs that redeliver many. */
export function redeliveryOperations(parts: RedeliveryParts): readonly Operation[] {
  // One of a tenant; how many in all, `lists` says.
  const counts = createOpenRequests({ total: Infinity, each: 1 });
  const withJob = (act: 'find' | 'cancel') => async (request: ApiRequest) => {
    const id = readRedeliveryId(request);
    const job = await parts.storeFor()[act](request.identity.tenantId, id);
    if (!job) throw new AppError('not-found', 'there is no redelivery with this id');
    return { status: 200, body: viewJob(job) };
  };
  return [
    {
      method: 'POST',
      path: '/integration/v1/webhooks/deliveries/:deliveryId/redeliver',
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
        const start = () => startRedelivery(identity.tenantId, wanted, parts);
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
