import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database.js';
import { findBodies } from '../payments/event-store.js';
import { readOrCatchUp } from '../read-after-catch-up.js';
import { countMatches, readJobPage } from './job-pages.js';
import type { PageParts } from './job-pages.js';
import { redeliveryOperations } from './redelivery-operations.js';
import type { RedeliveryParts } from './redelivery-operations.js';
import { redeliveryStoreOf } from './redelivery-store.js';
import { runPage } from './run-redeliveries.js';
import type { RunRedeliveriesPorts } from './run-redeliveries.js';
import type { StartRedeliveryPorts } from './start-redelivery.js';

export interface RedeliveryOptions
  extends
    PageParts,
    Pick<RedeliveryParts, 'findDelivery' | 'lists'>,
    Pick<RunRedeliveriesPorts, 'catchUp' | 'publish' | 'ratePerSecond'> {
  readonly database: Database;
  readonly configurations: RunRedeliveriesPorts['configurations'] & StartRedeliveryPorts['configurations'];
}

/** How often an instance looks for a job when there was none. */
const POLL_MS = 500;

/** Works through the jobs of all tenants, a page of each in turn, until the service closes. */
function keepRedelivering(ports: RunRedeliveriesPorts, scope: ServiceScope): void {
  const running = repeat({
    name: 'redelivering',
    everyMs: POLL_MS,
    log: scope.log,
    work: async (signal) => {
      for (;;) {
        const pauseMs = signal.aborted ? undefined : await runPage(ports);
        if (pauseMs === undefined) return;
        await wait(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    },
  });
  scope.onClose('redeliveries', () => running.stop());
}

/** Sending again: one delivery at once, many by jobs that this instance shares with the others. */
export function composeRedelivery(options: RedeliveryOptions, scope: ServiceScope): readonly Operation[] {
  const { database, keptMs, catchUp } = options;
  const now = (): number => Date.now();
  const storeFor = () => {
    const ask = database.within(REQUEST_MS);
    return redeliveryStoreOf((statement) => ask(({ redeliveries }) => statement(redeliveries)), now);
  };
  const readPage: RunRedeliveriesPorts['readPage'] = (job, limit) => readJobPage(job, limit, options);
  keepRedelivering({ ...options, storeFor, readPage, now, owner: randomUUID() }, scope);
  return redeliveryOperations({
    ...options,
    storeFor,
    findBody: (tenantId, eventId) => {
      const ask = database.within(REQUEST_MS);
      const read = async () => (await findBodies(ask, tenantId, [eventId], keptMs)).get(eventId);
      return readOrCatchUp({ read, catchUp });
    },
    countMatches: (tenantId, filter, max) => countMatches(tenantId, filter, max, options),
    newId: uuidv7,
    now,
  });
}
