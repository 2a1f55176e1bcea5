import { randomUUID } from 'node:crypto';
import { deliveryIdOf } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import type { KnownConfiguration } from '../../src/configurations/known-configurations.js';
import { cycleOf } from '../../src/redelivery/redelivery-task.js';
import type { RedeliveryJob } from '../../src/redelivery/redelivery-job.js';
import { redeliveryStoreOf } from '../../src/redelivery/redelivery-store.js';
import { runPage } from '../../src/redelivery/run-redeliveries.js';
import type { LoggedDelivery, RunRedeliveriesPorts } from '../../src/redelivery/run-redeliveries.js';
import { openTestDatabase } from '../transactions/support/open-test-database.js';
import type { TestDatabase } from '../transactions/support/open-test-database.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('redelivery'));
});
afterAll(() => test.close());

const REF = '0191e7a2-0000-7000-8000-000000000001';
const ENABLED: KnownConfiguration = { revision: 4, enabled: true, eventType: 'PIX_STATIC' };
const LEASE_MS = 30_000;
const upToDate = (): Promise<void> => Promise.resolve();

interface Logged extends LoggedDelivery {
  readonly createdAt: Date;
}

const log = (count: number, over: Partial<Logged> = {}): Logged[] =>
  Array.from({ length: count }, (_, index) => {
    const eventId = `evt_${index}`;
    const deliveryId = deliveryIdOf('acme', REF, eventId);
    const base = { tenantId: 'acme', ref: REF, eventType: 'PIX_STATIC', cycle: '0' } as const;
    return { ...base, eventId, deliveryId, createdAt: new Date(1_000 + index), ...over };
  });

interface Rig {
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

/** Runs jobs of the real collection over a log that is given; each rig has a time of its own, so leases are its own too. */
function openRig(deliveries: readonly Logged[], over: Partial<RunRedeliveriesPorts> = {}): Rig {
  let now = Date.now() + Math.floor(Math.random() * 1_000_000);
  const store = redeliveryStoreOf(
    (statement) => test.database.within(10_000)(({ redeliveries }) => statement(redeliveries)),
    () => now,
  );
  const sent: DeliveryTask[] = [];
  const ports: RunRedeliveriesPorts = {
    storeFor: () => store,
    pageDeliveries: (_tenantId, _filter, { after, limit }) => {
      const rest = deliveries.filter(({ createdAt }) => !after || createdAt > after.createdAt);
      const rows = rest.slice(0, limit);
      const last = rows.at(-1);
      return Promise.resolve({ rows, next: rest.length > limit ? last : undefined });
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
      const job = { ...base, matched: deliveries.length };
      await store.insert(job);
      return job;
    },
    find: ({ id }) => store.find('acme', id),
    finish: async () => {
      for (let pause = await runPage(ports); pause !== undefined; pause = await runPage(ports));
    },
  };
}

const idsOf = (tasks: readonly DeliveryTask[]): string[] => tasks.map(({ deliveryId }) => deliveryId);

describe('a job', () => {
  it('sends each delivery once, in pages, with its own cycle, and is completed', async () => {
    const deliveries = log(250);
    const rig = openRig(deliveries);
    const job = await rig.start();
    await rig.finish();
    expect(idsOf(rig.sent)).toEqual(deliveries.map(({ deliveryId }) => deliveryId));
    expect(new Set(rig.sent.map(({ cycle }) => cycle))).toEqual(new Set([cycleOf(job.id)]));
    expect(String(rig.sent[7]?.body)).toBe('{"id":"evt_7"}');
    expect(await rig.find(job)).toMatchObject({
      state: 'completed',
      counts: { sent: 250, refused: 0, expired: 0 },
    });
  });

  it('goes on behind a page in which nothing matched', async () => {
    const deliveries = log(3);
    let looks = 0;
    const rig = openRig(deliveries, {
      pageDeliveries: () => {
        looks += 1;
        const [first] = deliveries;
        return Promise.resolve(looks < 3 ? { rows: [], next: first } : { rows: deliveries });
      },
    });
    const job = await rig.start();
    await rig.finish();
    expect(rig.sent).toHaveLength(3);
    expect(await rig.find(job)).toMatchObject({ state: 'completed' });
  });

  it.each<[string, Partial<RunRedeliveriesPorts>, object]>([
    [
      'disabled',
      { configurations: { known: () => ({ ...ENABLED, enabled: false }), upToDate } },
      { refused: 5 },
    ],
    [
      'of another type',
      {
        configurations: {
          known: () => ({ ...ENABLED, eventType: 'PIX_OUT' }),
          upToDate,
        },
      },
      { refused: 5 },
    ],
    ['gone', { findBodies: () => Promise.resolve(new Map()) }, { expired: 5 }],
  ])('leaves out what is %s, and counts it', async (_name, over, counts) => {
    const rig = openRig(log(5), over);
    const job = await rig.start();
    await rig.finish();
    expect(rig.sent).toEqual([]);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 0, ...counts } });
  });

  it('refuses nothing before the configurations are known to their end', async () => {
    const known: KnownConfiguration[] = [];
    const rig = openRig(log(5), {
      configurations: {
        known: () => known[0],
        upToDate: () => (known.length > 0 ? Promise.resolve() : Promise.reject(new Error('not read yet'))),
      },
    });
    const job = await rig.start();
    await expect(runPage(rig.ports)).rejects.toThrow('not read yet');
    expect(await rig.find(job)).toMatchObject({ state: 'running', counts: { refused: 0 } });
    known.push(ENABLED);
    rig.advance(LEASE_MS + 1);
    await rig.finish();
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 5 } });
  });

  it('whose instance dies after it published is taken by another, which repeats that page and leaves none out', async () => {
    const deliveries = log(250);
    const rig = openRig(deliveries);
    const job = await rig.start();
    await runPage(rig.ports);
    const dying = {
      ...rig.ports,
      storeFor: () => ({ ...rig.store, advance: () => Promise.reject(new Error('died')) }),
    };
    await expect(runPage(dying)).rejects.toThrow('died');
    const other = { ...rig.ports, owner: 'other' };
    expect(await runPage(other)).toBeUndefined();
    rig.advance(LEASE_MS + 1);
    for (let pause = await runPage(other); pause !== undefined; pause = await runPage(other));
    expect(rig.sent).toHaveLength(350);
    expect(new Set(idsOf(rig.sent)).size).toBe(250);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 250 } });
  });

  it.each([
    ['the rest of its interval after a page', 40, 60],
    ['not at all after a page that took longer', 250, 0],
    ['its interval, when the clock was set back', -3_600_000, 100],
  ])('waits %s', async (_name, takenMs, pauseMs) => {
    const rig = openRig(log(150));
    const publish = (): Promise<void> => {
      rig.advance(takenMs);
      return Promise.resolve();
    };
    await rig.start();
    expect(await runPage({ ...rig.ports, publish })).toBe(pauseMs);
    await rig.finish();
  });

  it('does not send again what it is known to have sent', async () => {
    const rig = openRig([]);
    const job = await rig.start();
    const sent = log(4, { cycle: cycleOf(job.id) });
    const pageDeliveries = () => Promise.resolve({ rows: [...sent, ...log(6).slice(4)] });
    await runPage({ ...rig.ports, pageDeliveries });
    expect(rig.sent).toHaveLength(2);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 6 } });
  });

  it('that is cancelled during a page sends nothing of it', async () => {
    const rig = openRig(log(5));
    const job = await rig.start();
    const pageDeliveries: RunRedeliveriesPorts['pageDeliveries'] = async (...page) => {
      await rig.store.cancel('acme', job.id);
      return rig.ports.pageDeliveries(...page);
    };
    await runPage({ ...rig.ports, pageDeliveries });
    expect(rig.sent).toEqual([]);
    expect(await rig.find(job)).toMatchObject({ state: 'cancelled', counts: { sent: 0 } });
    expect(await runPage(rig.ports)).toBeUndefined();
  });

  it('of another tenant is neither shown nor cancelled', async () => {
    const rig = openRig(log(1));
    const job = await rig.start();
    expect(await rig.store.find('globex', job.id)).toBeUndefined();
    expect(await rig.store.cancel('globex', job.id)).toBeUndefined();
    await rig.finish();
    expect(await rig.find(job)).toMatchObject({ state: 'completed' });
  });
});
