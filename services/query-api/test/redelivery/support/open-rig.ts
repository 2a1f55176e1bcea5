import { randomUUID } from 'node:crypto';
import { deliveryIdOf } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';

import type { KnownConfiguration } from '../../../src/configurations/open-configurations.js';
import { placeOf } from '../../../src/delivery-log/place.js';
import type { RedeliveryJob } from '../../../src/redelivery/redelivery-job.js';
import { redeliveryStoreOf } from '../../../src/redelivery/redelivery-store.js';
import { runPage } from '../../../src/redelivery/run-redeliveries.js';
import type { LoggedDelivery, RunRedeliveriesPorts } from '../../../src/redelivery/run-redeliveries.js';
import type { TestDatabase } from '../../payments/support/open-test-database.js';

const REF = '0191e7a2-0000-7000-8000-000000000001';
export const ENABLED: KnownConfiguration = { revision: 4, enabled: true, eventType: 'PIX_STATIC' };
export const LEASE_MS = 30_000;
/** Jobs of one tenant, more than all tests together leave running. */
const MANY = 100;
export const upToDate = (): Promise<void> => Promise.resolve();

export const log = (count: number, over: Partial<LoggedDelivery> = {}): LoggedDelivery[] =>
  Array.from({ length: count }, (_, index) => {
    const eventId = `evt_${index}`;
    const deliveryId = deliveryIdOf('acme', REF, eventId);
    const base = { tenantId: 'acme', ref: REF, eventType: 'PIX_STATIC', cycle: '0' } as const;
    return { ...base, eventId, deliveryId, place: placeOf(1_000 + index, deliveryId), ...over };
  });

export interface Rig {
  readonly ports: RunRedeliveriesPorts;
  readonly sent: DeliveryTask[];
  readonly store: ReturnType<typeof redeliveryStoreOf>;
  /** Its time: leases end by it. */
  advance(ms: number): void;
  start(): Promise<RedeliveryJob>;
  find(job: RedeliveryJob): Promise<RedeliveryJob | undefined>;
  /** Pages until there is no job. */
  finish(): Promise<void>;
}

/** Runs jobs of the real collection over a log that is given, which may change; each rig has a time of its own, so leases are its own too. */
export function openRig(
  test: TestDatabase,
  deliveries: readonly LoggedDelivery[],
  over: Partial<RunRedeliveriesPorts> = {},
): Rig {
  let now = Date.now() + Math.floor(Math.random() * 1_000_000);
  const store = redeliveryStoreOf(
    (statement) => test.database.within(10_000)(({ redeliveries }) => statement(redeliveries)),
    () => now,
  );
  const sent: DeliveryTask[] = [];
  const ports: RunRedeliveriesPorts = {
    storeFor: () => store,
    pageDeliveries: (_tenantId, _filter, { after, limit }) => {
      const rest = deliveries.filter(({ place }) => after === undefined || place > after);
      const rows = rest.slice(0, limit);
      const last = rows.at(-1);
      return Promise.resolve({ rows, next: rest.length > limit ? last?.place : undefined });
    },
    findBodies: (_tenantId, eventIds) =>
      Promise.resolve(new Map(eventIds.map((eventId) => [eventId, Buffer.from(`{"id":"${eventId}"}`)]))),
    configurations: { known: () => ENABLED, upToDate },
    publish: (tasks) => {
      sent.push(...tasks);
      return Promise.resolve();
    },
    now: () => now,
    owner: 'one',
    ratePerSecond: 1_000,
    ...over,
  };
  return {
    ports,
    sent,
    store,
    advance: (ms) => (now += ms),
    start: async () => {
      const filter = { status: 'dead', from: new Date(0), to: new Date(now) } as const;
      const counts = { sent: 0, refused: 0, expired: 0 };
      const times = { createdAt: new Date(now), updatedAt: new Date(now) };
      const base = {
        id: randomUUID(),
        tenantId: 'acme',
        filter,
        state: 'running',
        counts,
        ...times,
      } as const;
      const job = { ...base, matched: deliveries.length, matchedIsLowerBound: false };
      expect(await store.insert(job, MANY)).toBe(true);
      return job;
    },
    find: ({ id }) => store.find('acme', id),
    finish: async () => {
      for (let pause = await runPage(ports); pause !== undefined; pause = await runPage(ports));
    },
  };
}

export const idsOf = (tasks: readonly { readonly deliveryId: string }[]): string[] =>
  tasks.map(({ deliveryId }) => deliveryId);
