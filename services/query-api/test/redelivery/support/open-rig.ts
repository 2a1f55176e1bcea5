import { randomUUID } from 'node:crypto';
import { deliveryIdOf } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import type { KnownConfiguration } from '../../../src/configurations.js';
import { placeOf } from '../../../src/documents.js';
import type { Candidate } from '../../../src/redelivery/job-pages.js';
import { redeliveryStoreOf } from '../../../src/redelivery/redelivery-store.js';
import type { RedeliveryJob } from '../../../src/redelivery/redelivery-store.js';
import { runPage } from '../../../src/redelivery/run-redeliveries.js';
import type { RunRedeliveriesPorts } from '../../../src/redelivery/run-redeliveries.js';
import type { TestDatabase } from '../../payments/support/open-test-database.js';

const REF = '0191e7a2-0000-7000-8000-000000000001';
export const ENABLED: KnownConfiguration = {
  ...{ revision: 4, enabled: true, eventType: 'PIX_STATIC' },
  endpointUrl: 'https://hook.acme.com.br/pix',
  updatedAt: '2026-11-21T14:03:27.512Z',
};
export const LEASE_MS = 30_000;
/** Jobs of one tenant, more than all tests together leave running. */
const MANY = 100;
export const upToDate = (): Promise<void> => Promise.resolve();

/** A delivery of a log, and where it lies among the others. */
interface LoggedDelivery extends Candidate {
  readonly place: string;
}

export const log = (count: number, over: Partial<LoggedDelivery> = {}): LoggedDelivery[] =>
  Array.from({ length: count }, (_, index) => {
    const eventId = `evt_${index}`;
    const deliveryId = deliveryIdOf('acme', REF, eventId);
    const base = { tenantId: 'acme', ref: REF, eventType: 'PIX_STATIC', cycle: '0' } as const;
    const body = Buffer.from(`{"id":"${eventId}"}`);
    return { ...base, eventId, deliveryId, place: placeOf(1_000 + index, deliveryId), body, ...over };
  });

export interface Rig {
  readonly ports: RunRedeliveriesPorts;
  readonly sent: DeliveryTask[];
  readonly store: ReturnType<typeof redeliveryStoreOf>;
  /** Its time: leases end by it. */
  advance(ms: number): void;
  start(over?: Partial<RedeliveryJob>): Promise<RedeliveryJob>;
  find(job: RedeliveryJob): Promise<RedeliveryJob | null>;
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
    readPage: ({ position }, limit) => {
      const rest = deliveries.filter(({ place }) => position === undefined || place > position);
      const candidates = rest.slice(0, limit);
      const next = rest.length > limit ? candidates.at(-1)?.place : undefined;
      return Promise.resolve({ candidates, next });
    },
    catchUp: () => Promise.resolve('passed'),
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
    start: async (over = {}) => {
      const filter = { status: 'dead', from: new Date(0), to: new Date(now) } as const;
      const counts = { sent: 0, refused: 0, expired: 0 };
      const at = new Date(now);
      const times = { leaseUntil: at, createdAt: at, updatedAt: at };
      const base = {
        _id: randomUUID(),
        tenantId: 'acme',
        startedBy: { client: 'client' },
        filter,
        state: 'running',
        counts,
        ...times,
      } as const;
      const job = { ...base, matched: deliveries.length, matchedIsLowerBound: false, ...over };
      expect(await store.insert(job, MANY)).toBe(true);
      return job;
    },
    find: ({ _id, tenantId }) => store.find(tenantId, _id),
    finish: async () => {
      for (let pause = await runPage(ports); pause !== undefined; pause = await runPage(ports));
    },
  };
}

export const idsOf = (tasks: readonly { readonly deliveryId: string }[]): string[] =>
  tasks.map(({ deliveryId }) => deliveryId);
