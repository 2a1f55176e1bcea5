import { fanOutHeaders } from '@webhooks/contracts';
import type { DeliveryTask, FanOut } from '@webhooks/contracts';
import type { KafkaRecord, OutgoingRecord } from '@webhooks/kafka';
import { ConfigurationTable } from '../src/configurations/configuration-cache.js';
import { toConfiguration } from '../src/configurations/configuration.js';
import { consumeFanOut, createSliceTurns } from '../src/path/consume-fan-out.js';
import { SettledMemory } from '../src/path/settled-memory.js';
import { buildRecord, buildTask, fakeCache } from './builders.js';

const WEBHOOKS = 33;
const refOf = (index: number): string => `0191e7a2-0000-7000-8000-${String(index).padStart(12, '0')}`;

function recordOf(afterRef?: string, offset = 1): KafkaRecord {
  const { eventId, eventType, tenantId, dueAt, firstDueAt, origin, body } = buildTask({
    firstDueAt: Date.now(),
    origin: { topic: 'payments.events', partition: 0, offset: String(offset) },
  });
  const fanOut: FanOut = { eventId, eventType, tenantId, dueAt, firstDueAt, origin, body };
  const headers = Object.entries(fanOutHeaders(afterRef === undefined ? fanOut : { ...fanOut, afterRef }));
  return {
    ...{ topic: 'webhooks.fan-outs', partition: 0, offset: 7, timestamp: 0, size: 0 },
    ...{ key: Buffer.from(eventId), value: body },
    headers: Object.fromEntries(headers.map(([name, text]) => [name, Buffer.from(text)])),
  };
}

/** A tenant with 33 webhooks, so two slices. `slow`: the ref whose delivery ends when the test says so. */
function openRig(slow?: string) {
  const table = new ConfigurationTable();
  for (let index = 0; index < WEBHOOKS; index += 1)
    table.apply(toConfiguration(buildRecord({ ref: refOf(index) }), { keys: [] }));
  const [delivered, published, closed]: [string[], OutgoingRecord[], unknown[]] = [[], [], []];
  const end = Promise.withResolvers<undefined>();
  const partition = { assigned: true };
  const ports = {
    cache: fakeCache(table),
    publish: (record: OutgoingRecord) => Promise.resolve(void published.push(record)),
    attemptLog: { append: (entry: unknown) => Promise.resolve(void closed.push(entry)) },
    deliver: ({ ref }: DeliveryTask) => {
      delivered.push(ref);
      return ref === slow ? end.promise : Promise.resolve();
    },
    ...{ damaged: () => undefined, maxAgeMs: 86_400_000, settled: new SettledMemory(100) },
    ...{ partition, turns: createSliceTurns(4, 1_000) },
  };
  return { ports, partition, delivered, published, closed, end: () => end.resolve(undefined) };
}

it('a slice is delivered and its rest published once, however often it is read', async () => {
  const { ports, delivered, published, closed } = openRig();
  await Promise.all([consumeFanOut(recordOf(), ports), consumeFanOut(recordOf(), ports)]);
  await consumeFanOut(recordOf(), ports);
  expect(delivered).toEqual(Array.from({ length: 32 }, (_, index) => refOf(index)));
  expect(published.map(({ headers }) => headers?.['after-ref'])).toEqual([refOf(31)]);
  await Promise.all([consumeFanOut(recordOf(refOf(31)), ports), consumeFanOut(recordOf(refOf(31)), ports)]);
  expect(delivered).toHaveLength(WEBHOOKS);
  expect(closed).toMatchObject([{ kind: 'fan-out', isOpen: false }]);
});

it('a batch that cannot be unpacked is a dead letter that says so', async () => {
  const { ports, published } = openRig();
  await consumeFanOut({ ...recordOf(), headers: {}, undecodable: 'codec 7' }, ports);
  expect(published).toMatchObject([
    { topic: 'webhooks.dead-letters', headers: { 'dead-reason': 'undecodable' } },
  ]);
});

it('a fan-out of a newer version waits in a tier', async () => {
  const { ports, delivered, published } = openRig();
  const record = recordOf();
  const headers = { ...record.headers, 'task-version': Buffer.from('2') };
  await consumeFanOut({ ...record, headers }, ports);
  expect(delivered).toEqual([]);
  expect(published).toMatchObject([{ topic: 'webhooks.retries.30s', value: record.value }]);
});

it('a fan-out whose partition is lost while it waits delivers nothing, and is delivered when it is read again', async () => {
  const { ports, partition, delivered } = openRig();
  partition.assigned = false;
  await expect(consumeFanOut(recordOf(), ports)).rejects.toThrow('the partition was lost');
  expect(delivered).toEqual([]);
  partition.assigned = true;
  await consumeFanOut(recordOf(), ports);
  expect(delivered).toHaveLength(32);
});

it('a slow endpoint holds a turn for 2 s, and the rest is published when it has responded', async () => {
  const { ports, published, end } = openRig(refOf(5));
  // All turns of the tenant.
  const handled = Array.from({ length: 4 }, (_, index) => consumeFanOut(recordOf(undefined, index), ports));
  await ports.turns.take('acme', (begun) => {
    begun();
    return Promise.resolve();
  });
  expect(published).toEqual([]);
  end();
  await Promise.all(handled);
  expect(published).toHaveLength(4);
});

it('while too many slices are not settled no turn ends, so the tenants of those that wait take turns', async () => {
  const turns = createSliceTurns(4, 32);
  const begun: string[] = [];
  const [ends, over] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const slice = (tenantId: string, until: Promise<unknown>) =>
    turns.take(tenantId, async (isBegun) => {
      isBegun();
      begun.push(tenantId);
      await until;
    });
  // The only one that may be unsettled. Its turn ends after 2 s.
  const slow = slice('slow', ends.promise);
  const many = Array.from({ length: 8 }, () => slice('slow', over.promise));
  const other = slice('other', Promise.resolve());
  over.resolve(undefined);
  // As long as a turn lasts that began later.
  const clock = createSliceTurns(1, 64);
  const hanging = clock.take('any', (isBegun) => {
    isBegun();
    return ends.promise;
  });
  await clock.take('any', () => Promise.resolve());
  expect(turns.isOverShare('slow')).toBe(true);
  expect(begun).toEqual(['slow']);
  ends.resolve(undefined);
  await Promise.all([slow, ...many, other, hanging]);
  expect(begun.indexOf('other')).toBeLessThan(5);
});
