import { AppError } from '@webhooks/http-api';
import type { ApiRequest, Operation } from '@webhooks/http-api';
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
}

const WEBHOOKS = '/integration/v1/webhooks';
const JOBS = `${WEBHOOKS}/redeliveries`;
const MAX_BODY_BYTES = 4_096;
const READ = ['delivery.read'] as const;
const WRITE = ['delivery.write'] as const;

const param = ({ params }: ApiRequest, name: string): string => params[name] ?? '';

const found = (job: RedeliveryJob | undefined): RedeliveryJob => {
  if (job) return job;
  throw new AppError('not-found', 'there is no redelivery with this id');
};

/** Redelivering one delivery, and the jobs that redeliver many. */
export function redeliveryOperations(parts: RedeliveryParts): readonly Operation[] {
  const { storeFor } = parts;
  return [
    {
      method: 'POST',
      path: `${WEBHOOKS}/deliveries/:deliveryId/redeliver`,
      scopes: WRITE,
      handle: async (request) => ({
        status: 202,
        body: await redeliverOne(request.identity.tenantId, param(request, 'deliveryId'), parts),
      }),
    },
    {
      method: 'POST',
      path: JOBS,
      scopes: WRITE,
      maxBodyBytes: MAX_BODY_BYTES,
      handle: async (request) => {
        const wanted = readRedeliveryRequest(request);
        const started = await startRedelivery(request.identity.tenantId, wanted, parts);
        return started.dryRun ? { status: 200, body: started } : { status: 202, body: started.job };
      },
    },
    {
      method: 'GET',
      path: `${JOBS}/:id`,
      scopes: READ,
      handle: async (request) => {
        const job = await storeFor().find(request.identity.tenantId, param(request, 'id'));
        return { status: 200, body: viewJob(found(job)) };
      },
    },
    {
      method: 'POST',
      path: `${JOBS}/:id/cancel`,
      scopes: WRITE,
      handle: async (request) => {
        const job = await storeFor().cancel(request.identity.tenantId, param(request, 'id'));
        return { status: 200, body: viewJob(found(job)) };
      },
    },
  ];
}
