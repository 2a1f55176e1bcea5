import type { AttemptLogEntry } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import { mongo } from 'mongoose';
import { countPacks, findBuckets, bucketId } from '../../src/endpoint-health/count-attempts.js';
import type { ReadPack } from '../../src/endpoint-health/count-attempts.js';
import { viewHealth } from '../../src/endpoint-health/view-health.js';
import { delivered, failed, REF, T0 } from '../delivery-log/support/entries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('health'));
});
afterAll(() => test.close());

const PACKS = 120;
const EACH = 5;

/** The attempts of an endpoint on three partitions, over half an hour: every fourth fails. */
const packsOf = (tenantId: string): readonly ReadPack[] =>
  Array.from({ length: PACKS }, (_, index) => ({
    partition: index % 3,
    offset: Math.floor(index / 3),
    id: undefined,
    entries: Array.from({ length: EACH }, (_entry, place): AttemptLogEntry => {
      const make = place === 0 && index % 4 === 0 ? failed : delivered;
      return make({ at: T0 + index * 15_000 + place }, { tenantId, eventId: `evt_${index}_${place}` });
    }),
  }));

const count = (packs: readonly ReadPack[]): Promise<void> => countPacks(test.database.within(20_000), packs);

async function healthOf(tenantId: string) {
  const now = T0 + PACKS * 15_000;
  const buckets = await findBuckets(test.database.within(20_000), { tenantId, ref: REF, now });
  return viewHealth(REF, { enabled: true }, buckets, now);
}

const EXPECTED = {
  lastDay: { attempts: PACKS * EACH, successRate: 0.95 },
  failures: [{ class: '503', count: PACKS / 4 }],
};

it('each attempt is counted once, whatever an instance that was killed had counted before another reads it again', async () => {
  const tenantId = randomName('tenant');
  const packs = packsOf(tenantId);
  for (let from = 0; from < PACKS; from += 10) {
    // Written, and killed before the position was committed: others read from far before it.
    await count(packs.slice(from, from + 10));
    await count(packs.slice(Math.max(0, from - 30), from + 10));
  }
  expect(await healthOf(tenantId)).toMatchObject(EXPECTED);
});

it('a pack that was produced again after a lost response counts once, in one batch or in several', async () => {
  const tenantId = randomName('tenant');
  const packs = packsOf(tenantId).map((pack) => ({ ...pack, id: `${pack.partition}-${pack.offset}` }));
  const again = packs.map((pack) => ({ ...pack, offset: pack.offset + PACKS }));
  await count([...packs.slice(0, 9), ...again.slice(0, 9)]);
  for (let from = 9; from < PACKS; from += 9) {
    await count(packs.slice(from, from + 9));
    await count(again.slice(from, from + 9));
  }
  expect(await healthOf(tenantId)).toMatchObject(EXPECTED);
});

it('instances that read different partitions, and one of them for both, count each attempt once', async () => {
  const tenantId = randomName('tenant');
  const packs = packsOf(tenantId);
  const of = (...partitions: readonly number[]) =>
    packs.filter(({ partition }) => partitions.includes(partition));
  await Promise.all([count(of(0)), count(of(1)), count(of(2)), count(of(1, 2))]);
  expect(await healthOf(tenantId)).toMatchObject(EXPECTED);
});

it('an endpoint, and its tenant, cost one write for each batch and ten minutes, at any rate of attempts', async () => {
  const tenantId = randomName('tenant');
  const writes: unknown[] = [];
  test.onCommand(({ command }) => {
    if (command['insert'] === 'endpointHealth') writes.push(...(command['documents'] as readonly unknown[]));
  });
  await count(packsOf(tenantId));
  const buckets = await findBuckets(test.database.within(20_000), {
    tenantId,
    ref: REF,
    now: T0 + 3_600_000,
  });
  expect(writes).toHaveLength(2 * buckets.length);
  expect(buckets.length).toBeLessThanOrEqual(4);
});

it('a document stays small however many packs it counts, and a query does not read its bookkeeping', async () => {
  const tenantId = randomName('tenant');
  const packs = Array.from({ length: 768 }, (_, index) => ({
    partition: index % 12,
    offset: Math.floor(index / 12),
    id: `a1b2c3d4-${100_000 + index}`,
    entries: [delivered({ at: T0 }, { tenantId, eventId: `evt_${index}` })],
  }));
  await count(packs);
  const runQuery = test.database.within(20_000);
  const id = bucketId(`${tenantId}/${REF}`, T0);
  const document = await runQuery(({ endpointHealth }) => endpointHealth.findById(id).lean().exec());
  expect(mongo.BSON.calculateObjectSize(document ?? {})).toBeLessThan(6_000);
  const [bucket] = await findBuckets(runQuery, { tenantId, ref: REF, now: T0 });
  expect(bucket).toMatchObject({ tenantId, succeeded: 768 });
  for (const name of ['packs', 'offsets', 'version', 'expiresAt']) expect(bucket).not.toHaveProperty(name);
});
