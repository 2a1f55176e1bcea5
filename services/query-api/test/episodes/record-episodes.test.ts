import type { AttemptLogEntry } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import { countPacks } from '../../src/endpoint-health/count-attempts.js';
import { findEpisodes } from '../../src/episodes/episode-store.js';
import { recordEpisodes } from '../../src/episodes/record-episodes.js';
import { delivered, failed, REF, T0 } from '../delivery-log/support/entries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';

const AFTER_MS = 300_000;

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('episodes'));
});
afterAll(() => test.close());

let offset = 0;

/** A batch of the projection: counts first, then records. */
async function apply(...entries: readonly AttemptLogEntry[]): Promise<void> {
  await countPacks(test.database.writing(), [
    { partition: 0, offset: (offset += 1), id: undefined, entries },
  ]);
  await recordEpisodes(test.database, entries, AFTER_MS);
}

async function episodesOf(tenantId: string) {
  const [row] = await findEpisodes(test.database.writing(), [`${tenantId}/${REF}`]);
  return row;
}

const at = (second: number): number => T0 + second * 1_000;

it('an endpoint that never fails is not written, however often it is delivered to', async () => {
  const tenantId = randomName('tenant');
  const writes: unknown[] = [];
  test.onCommand(({ command }) => {
    if ([command['insert'], command['update']].includes('episodes')) writes.push(command);
  });
  await apply(delivered({ at: at(1) }, { tenantId }), delivered({ at: at(2) }, { tenantId }));
  expect(await episodesOf(tenantId)).toBeUndefined();
  expect(writes).toEqual([]);
});

it('an episode ends by a success that another batch brings, and its document is then open no more', async () => {
  const tenantId = randomName('tenant');
  await apply(failed({ at: at(1) }, { tenantId }));
  expect(await episodesOf(tenantId)).toMatchObject({ open: 'yes', current: { first: { status: 503 } } });
  await apply(delivered({ at: at(9) }, { tenantId }));
  const ended = await episodesOf(tenantId);
  expect(ended).toMatchObject({ past: [], closedAt: new Date(at(9)) });
  expect([ended?.current, ended?.open]).toEqual([undefined, undefined]);
});

it('a failure that is read after a later success opens no episode, also when batches are repeated', async () => {
  const tenantId = randomName('tenant');
  const [late, early] = [failed({ at: at(1) }, { tenantId }), delivered({ at: at(5) }, { tenantId })];
  await apply(early);
  for (let turn = 0; turn < 2; turn += 1) {
    await apply(late);
    expect((await episodesOf(tenantId))?.current).toBeUndefined();
  }
});

it('instances that record at the same time, and one of them again, keep one episode with its first and last failure', async () => {
  const tenantId = randomName('tenant');
  const entries = Array.from({ length: 40 }, (_, second) => failed({ at: at(second) }, { tenantId }));
  const record = (from: number) => recordEpisodes(test.database, entries.slice(from, from + 10), AFTER_MS);
  await Promise.all([0, 10, 20, 30, 20].map(record));
  const row = await episodesOf(tenantId);
  expect(row).toMatchObject({ past: [], current: { first: { at: at(0) }, last: { at: at(39) } } });
});

/** In thousands; `FAULT_CASES=1`: as many as the fault case has. */
const BATCHES = process.env['FAULT_CASES'] === '1' ? 10 : 1;

it('thousands of endpoints that fail at once have one open episode each', async () => {
  const tenantId = randomName('tenant');
  const refOf = (index: number) => `0191e7a2-0000-7000-8000-${String(index).padStart(12, '0')}`;
  let [countedMs, recordedMs] = [0, 0];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const entries = Array.from({ length: 1_000 }, (_, index) =>
      failed({ at: Date.now() }, { tenantId, ref: refOf(batch * 1_000 + index) }),
    );
    const beganAt = performance.now();
    await countPacks(test.database.writing(), [{ partition: 1, offset: batch, id: undefined, entries }]);
    const countedAt = performance.now();
    await recordEpisodes(test.database, entries, AFTER_MS);
    countedMs += countedAt - beganAt;
    recordedMs += performance.now() - countedAt;
  }
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  process.stdout.write(
    `${BATCHES},000 endpoints fail: counted in ${seconds(countedMs)}, recorded in ${seconds(recordedMs)}\n`,
  );
  const open = { _id: new RegExp(`^${tenantId}/`), open: 'yes' } as const;
  const count = await test.database.writing()(({ episodes }) => episodes.countDocuments(open).exec());
  expect(count).toBe(BATCHES * 1_000);
}, 240_000);

it('an endpoint that fails and recovers within a batch is not written', async () => {
  const tenantId = randomName('tenant');
  await apply(failed({ at: at(1) }, { tenantId }), delivered({ at: at(2) }, { tenantId }));
  expect(await episodesOf(tenantId)).toBeUndefined();
});
