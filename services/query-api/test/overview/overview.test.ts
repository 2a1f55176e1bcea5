import { createConcurrencyLimiter } from '@webhooks/http-api';
import { randomName } from '@webhooks/testkit';
import type { ConfigurationRow } from '../../src/configurations.js';
import { composeHealth } from '../../src/endpoint-health/compose.js';
import { overviewOperations } from '../../src/overview/overview.js';
import { dayOf } from '../../src/statements/daily-totals.js';
import { OTHER_REF, REF, dead, delivered, failed, packRecord } from '../delivery-log/support/entries.js';
import { openLog } from '../delivery-log/support/open-log.js';
import type { OpenLog } from '../delivery-log/support/open-log.js';
import { faultOf } from '../support/openapi.js';

let log: OpenLog;
beforeAll(async () => {
  log = await openLog(randomName('overview'));
});
afterAll(() => log.close());

const MINUTE = 60_000;
const NOW = Date.now();
/** The beginning of the failures: earlier on the same day in São Paulo, if there is an earlier time. */
const SINCE = NOW - 20 * MINUTE;

const webhook = (tenantId: string, over: Partial<ConfigurationRow> = {}): ConfigurationRow => ({
  ...{ tenantId, ref: REF, revision: 1, enabled: true, eventType: 'PIX_OUT' },
  ...{ endpointUrl: 'https://shop.example.com/pix', updatedAt: '2020-01-01T00:00:00.000Z' },
  ...over,
});

async function overviewOf(tenantId: string, webhooks: readonly ConfigurationRow[]) {
  const [operation] = overviewOperations({
    database: { within: () => log.runQuery },
    configurations: { ofTenant: () => Promise.resolve(webhooks) },
    lists: createConcurrencyLimiter({ total: 1 }),
  });
  const reply = await operation?.handle({
    identity: { tenantId, clientId: 'c', scopes: new Set() },
  } as never);
  expect(faultOf('#/components/schemas/Overview', reply?.body)).toBeUndefined();
  return reply?.body as {
    readonly data: readonly object[];
    readonly series: readonly { readonly at: string }[];
  };
}

const health = () =>
  composeHealth({
    database: { within: () => log.runQuery, writing: () => log.runQuery, models: () => log.models },
    configurations: { current: () => Promise.reject(new Error('not asked')) },
    ...{ failingAfterMs: 5 * MINUTE, onSkipped: () => undefined },
  }).projection;

it('shows each webhook with its state, the latest failure, its last hour and what it did not get', async () => {
  const tenantId = randomName('tenant');
  const place = (eventId: string, ref = REF) => ({ tenantId, ref, eventId });
  const paid = { acceptedAt: NOW - MINUTE, cents: 1_050 };
  const refused = { ...paid, status: 503 };
  const records = [
    packRecord(
      delivered({ ...paid, at: NOW - 30 * MINUTE }, place('evt_0')),
      ...[1, 2, 3].map((event) => failed({ ...refused, at: SINCE + event }, place(`evt_${event}`))),
      delivered({ ...paid, at: NOW - MINUTE }, place('evt_1', OTHER_REF)),
    ),
  ];
  await log.apply(...records);
  await health().apply(records);
  const { data, series } = await overviewOf(tenantId, [
    webhook(tenantId),
    webhook(tenantId, { ref: OTHER_REF }),
    webhook(tenantId, { ref: '0191e7a2-0000-7000-8000-000000000003' }),
    webhook(tenantId, { enabled: false }),
    webhook(tenantId, { eventType: 'ENDPOINT_ALERT' }),
  ]);
  expect(data).toMatchObject([
    {
      ...{ state: 'failing', since: new Date(SINCE + 1).toISOString() },
      topFailure: { class: '503', cause: expect.any(String) as string },
      lastHour: { delivered: 1, failed: 3 },
      undelivered: { events: 3, amount: '31.50', atLeast: false },
    },
    { ref: OTHER_REF, state: 'healthy', lastHour: { delivered: 1, failed: 0 } },
    { state: 'idle', lastHour: { delivered: 0, failed: 0 } },
    { state: 'disabled' },
  ]);
  expect(data).toHaveLength(4);
  expect(series).toHaveLength(144);
  const sum = (name: string): number =>
    series.reduce((all, point) => all + Number((point as Record<string, unknown>)[name]), 0);
  expect([sum('delivered'), sum('failed'), sum('dead')]).toEqual([2, 3, 0]);
});

it('is failing from the first failure only without a success within the hour', async () => {
  const tenantId = randomName('tenant');
  const [recent, old] = [
    { tenantId, ref: REF },
    { tenantId, ref: OTHER_REF },
  ];
  const records = [
    packRecord(
      ...[delivered({ at: SINCE - MINUTE }, recent), failed({ at: SINCE }, recent)],
      ...[delivered({ at: NOW - 120 * MINUTE }, old), failed({ at: SINCE }, old)],
    ),
  ];
  await health().apply(records);
  const { data } = await overviewOf(tenantId, [webhook(tenantId), webhook(tenantId, { ref: OTHER_REF })]);
  expect(data).toMatchObject([{ state: 'healthy' }, { state: 'failing' }]);
});

it('says that there may be more when others ended on the day on which the failures began', async () => {
  const place = { tenantId: randomName('tenant') };
  const paid = { acceptedAt: SINCE, cents: 1_000 };
  const records = [
    packRecord(
      ...[1, 2, 3].map((attempt) =>
        failed({ ...paid, attempt, at: SINCE + attempt }, { ...place, eventId: 'evt_1' }),
      ),
      dead({ ...paid, at: SINCE + 4 }, { ...place, eventId: 'evt_2' }),
    ),
  ];
  await log.apply(...records);
  await health().apply(records);
  const { data } = await overviewOf(place.tenantId, [webhook(place.tenantId)]);
  expect(dayOf(SINCE)).toBeDefined();
  expect(data).toMatchObject([{ undelivered: { events: 1, amount: '10.00', atLeast: true } }]);
});

it('reads at most four ranges, also for a thousand webhooks', async () => {
  const tenantId = randomName('tenant');
  const webhooks = Array.from({ length: 1_000 }, (_, index) =>
    webhook(tenantId, { ref: `${REF.slice(0, -4)}${1_000 + index}` }),
  );
  const commands: unknown[] = [];
  log.onCommand(({ command }) => commands.push(command['find']));
  const { data } = await overviewOf(tenantId, webhooks);
  expect(data).toHaveLength(1_000);
  expect(commands.sort()).toEqual(['endpointHealth', 'endpointHealth', 'episodes', 'totals']);
});
