import { MAX_TIME_MS } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { randomName } from '@webhooks/testkit';
import { composeHealth } from '../../src/endpoint-health/compose.js';
import { findBuckets } from '../../src/endpoint-health/count-attempts.js';
import { findEpisodes } from '../../src/episodes/episode-store.js';
import { keyOf } from '../../src/payments/event-store.js';
import { REF, delivered, failed, packRecord } from '../delivery-log/support/entries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('health'));
});
afterAll(() => test.close());

const DAY_MS = 86_400_000;

/** What is counted of entries, and which records were told of. */
async function project(entries: (tenantId: string, now: number) => readonly AttemptLogEntry[]) {
  const [tenantId, now] = [randomName('tenant'), Date.now()];
  const told: string[] = [];
  const onSkipped = (_record: KafkaRecord, reason: string) => void told.push(reason);
  const current = () => Promise.reject(new Error('nobody asks'));
  const { projection } = composeHealth({
    database: test.database,
    configurations: { current },
    failingAfterMs: 300_000,
    onSkipped,
  });
  await projection.apply([packRecord(...entries(tenantId, now))]);
  const buckets = await findBuckets(test.database.within(20_000), { tenantId, ref: REF, now });
  const sum = (which: 'succeeded' | 'failed') => buckets.reduce((total, bucket) => total + bucket[which], 0);
  const [episodes] = await findEpisodes(test.database.within(20_000), [keyOf(tenantId, REF)]);
  return { succeeded: sum('succeeded'), failed: sum('failed'), attempts: episodes?.current?.attempts, told };
}

it.each([
  ['the year 9999', MAX_TIME_MS],
  ['two days ahead', Date.now() + 2 * DAY_MS],
])('leaves out and reports an attempt of %s, and counts the others of its pack', async (_when, at) => {
  const found = await project((tenantId, now) => [
    delivered({ at: now }, { tenantId, eventId: 'evt_1' }),
    failed({ at }, { tenantId, eventId: 'evt_2' }),
    failed({ at: now }, { tenantId, eventId: 'evt_3' }),
  ]);
  expect(found).toMatchObject({ succeeded: 1, failed: 1, told: ['dated-ahead'] });
});

it('counts attempts that a clock dates an hour ahead when the broker has got their report, in their order', async () => {
  const found = await project((tenantId, now) => [
    delivered({ at: now + DAY_MS / 24 }, { tenantId, eventId: 'evt_1' }),
    failed({ at: now + DAY_MS / 24 + 1 }, { tenantId, eventId: 'evt_2' }),
  ]);
  expect(found).toEqual({ succeeded: 1, failed: 1, attempts: 1, told: [] });
});
