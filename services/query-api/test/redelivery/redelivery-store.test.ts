import { randomName } from '@webhooks/testkit';
import { v7 as uuidv7 } from 'uuid';
import { redeliveryStoreOf } from '../../src/redelivery/redelivery-store.js';
import type { RedeliveryJob } from '../../src/redelivery/redelivery-store.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('redelivery'));
});
afterAll(() => test.close());

const MAX = 5;
const storeOf = () =>
  redeliveryStoreOf(
    (statement) => test.database.within(10_000)(({ redeliveries }) => statement(redeliveries)),
    () => Date.now(),
  );

function jobOf(tenantId: string): RedeliveryJob {
  const now = new Date();
  const filter = { status: 'dead', from: new Date(0), to: now } as const;
  const counts = { sent: 0, refused: 0, expired: 0 };
  const times = { leaseUntil: now, createdAt: now, updatedAt: now };
  const matched = { matched: 0, matchedIsLowerBound: false };
  const startedBy = { client: 'client' };
  return { _id: uuidv7(), tenantId, startedBy, filter, state: 'running', ...matched, counts, ...times };
}

describe('the jobs of a tenant', () => {
  it('are as many as may run, however many are made at the same moment', async () => {
    const tenantId = randomName('tenant');
    const store = storeOf();
    const jobs = Array.from({ length: 20 }, () => jobOf(tenantId));
    const made = await Promise.all(jobs.map((job) => store.insert(job, MAX)));
    expect(made.filter(Boolean)).toHaveLength(MAX);
    expect(await store.insert(jobOf(randomName('tenant')), MAX)).toBe(true);
  });

  it('free capacity when one is cancelled or completed', async () => {
    const tenantId = randomName('tenant');
    const store = storeOf();
    const [first, second] = [jobOf(tenantId), jobOf(tenantId)];
    expect(await store.insert(first, 2)).toBe(true);
    expect(await store.insert(second, 2)).toBe(true);
    expect(await store.insert(jobOf(tenantId), 2)).toBe(false);
    await store.cancel(tenantId, first._id);
    expect(await store.insert(jobOf(tenantId), 2)).toBe(true);
    const owner = 'one';
    for (let job = await store.claim(owner, 30_000); job; job = await store.claim(owner, 30_000))
      await store.advance(job, owner, job.counts, undefined);
    expect(await store.insert(jobOf(tenantId), 2)).toBe(true);
  });

  it('are listed the newest first, in pages, for their tenant only', async () => {
    const tenantId = randomName('tenant');
    const store = storeOf();
    const jobs = Array.from({ length: 7 }, () => jobOf(tenantId));
    for (const job of jobs) await store.insert(job, jobs.length);
    await store.insert(jobOf(randomName('tenant')), MAX);
    const newestFirst = jobs.map(({ _id }) => _id).toReversed();
    const first = await store.list(tenantId, 3);
    expect(first.map(({ _id }) => _id)).toEqual(newestFirst.slice(0, 3));
    const second = await store.list(tenantId, 100, first.at(-1)?._id);
    expect(second.map(({ _id }) => _id)).toEqual(newestFirst.slice(3));
  });
});
