import { randomUUID } from 'node:crypto';
import type { Operation } from '@webhooks/http-api';
import type { ServiceScope } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { Configurations } from '../configurations/open-configurations.js';
import { REQUEST_MS } from '../database.js';
import type { Database } from '../database.js';
import type { Delivery } from '../delivery-log/delivery.js';
import { placeOf } from '../delivery-log/place.js';
import type { DeliveryStore } from '../delivery-log/delivery-store.js';
import { findBodies } from '../payments/event-store.js';
import { keepRedelivering } from './keep-redelivering.js';
import type { Retention } from '../retention.js';
import type { PublishTasks } from './publish-tasks.js';
import type { RedeliverOnePorts } from './redeliver-one.js';
import { redeliveryOperations } from './redelivery-operations.js';
import { redeliveryStoreOf } from './redelivery-store.js';
import type { RedeliveryStore } from './redelivery-store.js';
import type { RunRedeliveriesPorts } from './run-redeliveries.js';

export interface RedeliveryOptions {
  readonly database: Database;
  readonly deliveriesWithin: (ms: number) => DeliveryStore;
  readonly findDelivery: RedeliverOnePorts['findDelivery'];
  readonly configurations: Configurations;
  readonly publish: PublishTasks;
  readonly ratePerSecond: number;
  readonly retention: Retention;
}

/** Counting is the longest that a caller waits for; its client gives up after 10 s. A database may be late to end it. */
const COUNT_MS = 8_000;
/** For the deliveries of a page and their bodies, each. */
const PAGE_MS = 5_000;
const now = (): number => Date.now();

function jobsWithin(database: Database, ms: number): RedeliveryStore {
  const ask = database.within(ms);
  return redeliveryStoreOf((statement) => ask(({ redeliveries }) => statement(redeliveries)), now);
}

function portsOf(options: RedeliveryOptions, owner: string): RunRedeliveriesPorts {
  const { database, deliveriesWithin, configurations, publish, ratePerSecond, retention } = options;
  return {
    storeFor: () => jobsWithin(database, REQUEST_MS),
    pageDeliveries: async (tenantId, filter, { after, limit }) => {
      const wish = { order: 'oldest-first', after, limit } as const;
      const { rows, next } = await deliveriesWithin(PAGE_MS).page(tenantId, filter, wish);
      const rowOf = ({ state, ...row }: Delivery) => ({
        ...row,
        cycle: state.cycle,
        place: placeOf(row.createdAt, row.deliveryId),
      });
      return { rows: rows.map(rowOf), next };
    },
    findBodies: (tenantId, eventIds) =>
      findBodies(database.within(PAGE_MS), tenantId, eventIds, retention.notificationMs),
    configurations,
    publish,
    now,
    owner,
    ratePerSecond,
  };
}

/** Sending again: one delivery at once, many by jobs that this instance shares with the others. */
export function composeRedelivery(options: RedeliveryOptions, scope: ServiceScope): readonly Operation[] {
  const { database, deliveriesWithin, findDelivery, configurations, publish, retention } = options;
  const owner = randomUUID();
  keepRedelivering(() => portsOf(options, owner), scope);
  return redeliveryOperations({
    storeFor: () => jobsWithin(database, REQUEST_MS),
    findDelivery,
    findBody: async (tenantId, eventId) =>
      (await findBodies(database.within(REQUEST_MS), tenantId, [eventId], retention.notificationMs)).get(
        eventId,
      ),
    countDeliveries: (tenantId, filter, max) =>
      deliveriesWithin(COUNT_MS).count(tenantId, filter, { max, budgetMs: COUNT_MS / 2 }),
    configurations,
    publish,
    newId: uuidv7,
    now,
  });
}
