import { deliveryIdOf, renderNotification } from '@webhooks/contracts';
import type { DeliveryTask, PaymentEvent } from '@webhooks/contracts';
import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiReply, ApiRequest } from '@webhooks/http-api';
import { Closers, HealthBoard, NO_TRACING, Registry } from '@webhooks/runtime';
import { randomName } from '@webhooks/testkit';
import type { KnownConfiguration } from '../../src/configurations.js';
import { mergeEntries } from '../../src/delivery-log/merge-entries.js';
import { storeEvents } from '../../src/payments/event-store.js';
import type { CatchUpResult } from '../../src/projection/catch-up.js';
import { composeRedelivery } from '../../src/redelivery/compose.js';
import { delivered, REF } from '../delivery-log/support/entries.js';
import { eventRecord, out } from '../payments/support/events.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';
import { ENABLED, upToDate } from './support/open-rig.js';

const HOUR_MS = 3_600_000;
const DELIVERIES = '/integration/v1/webhooks/deliveries';
const closers = new Closers();
const silent = () => undefined;
const audit: object[] = [];
const log = {
  ...{ debug: silent, warn: silent, error: silent },
  info: (message: string, fields = {}) => {
    if (message === 'audit') audit.push(fields);
  },
};
const sent: DeliveryTask[] = [];
let test: TestDatabase;
let tenantId: string;
let webhook: KnownConfiguration;
let catchUp: () => Promise<CatchUpResult>;
let call: (path: string, request: object) => Promise<ApiReply>;

beforeAll(async () => {
  test = await openTestDatabase(randomName('redeliver'));
  const operations = composeRedelivery(
    {
      ...{ database: test.database, ratePerSecond: 1, retentionMs: HOUR_MS, logRetentionMs: HOUR_MS },
      lists: createConcurrencyLimiter({ total: 8 }),
      publish: (tasks) => {
        sent.push(...tasks);
        return Promise.resolve();
      },
      configurations: { known: () => webhook, current: () => Promise.resolve(webhook), upToDate },
      findDelivery: (tenant) =>
        Promise.resolve(mergeEntries(undefined, [delivered({}, { tenantId: tenant })])),
      catchUp: () => catchUp(),
    },
    {
      ...{
        log,
        health: new HealthBoard(),
        registry: new Registry(),
        addPage: silent,
        tracing: NO_TRACING,
        fail: silent,
      },
      onClose: (name, close) => closers.add(name, close),
    },
  );
  call = async (path, request) => {
    const operation = operations.find(({ method, path: own }) => method === 'POST' && own.endsWith(path));
    const identity = { tenantId, clientId: 'console', personId: '0193510a' };
    const reply = operation?.handle({ identity, requestId: 'request', ...request } as unknown as ApiRequest);
    return reply ?? Promise.reject(new Error(`no operation ${path}`));
  };
});
beforeEach(() => {
  webhook = { ...ENABLED, eventType: 'PIX_OUT' };
  catchUp = () => Promise.resolve('passed');
  tenantId = randomName('tenant');
  for (const list of [sent, audit]) list.length = 0;
});
afterAll(async () => {
  await closers.closeAll(log, 10_000);
  await test.close();
});

const keep = (event: PaymentEvent, timestamp = Date.now()): Promise<unknown> =>
  storeEvents(test.database.within(5_000), [eventRecord(event, { timestamp })]);
const redeliver = () => call('/redeliver', { params: { deliveryId: 'a'.repeat(52) } });
const send = (body: object) =>
  call(DELIVERIES, { header: () => 'application/json', body: Buffer.from(JSON.stringify(body)) });
const WANTED = { eventId: 'evt_1', ref: REF.toUpperCase() };

it('a notification that is not projected yet is not refused as expired', async () => {
  catchUp = () => Promise.resolve('late');
  await expect(redeliver()).rejects.toMatchObject({ code: 'unavailable' });
  catchUp = () => Promise.resolve('passed');
  await expect(redeliver()).rejects.toMatchObject({ code: 'not-redeliverable' });
  catchUp = async () => {
    await keep(out({}, { tenantId }));
    return 'passed';
  };
  expect(await redeliver()).toMatchObject({ status: 202 });
});

it('an event is sent to a webhook of which there is no delivery, and the audit has who sent it', async () => {
  const event = out({}, { tenantId });
  catchUp = async () => {
    await keep(event);
    return 'passed';
  };
  const { status, body } = await send(WANTED);
  const deliveryId = deliveryIdOf(tenantId, REF, 'evt_1');
  expect({ status, body }).toMatchObject({ status: 202, body: { deliveryId } });
  const { cycle } = body as { readonly cycle: string };
  expect(cycle).toMatch(/^r[0-9a-f-]{36}$/);
  const base = { tenantId, ref: REF, eventId: 'evt_1', cycle };
  expect(sent).toMatchObject([
    { ...base, deliveryId, attempt: 1, eventType: 'PIX_OUT', revision: 4, body: renderNotification(event) },
  ]);
  expect(audit).toEqual([
    { ...base, action: 'send', requestId: 'request', clientId: 'console', personId: '0193510a' },
  ]);
  await redeliver();
  expect(audit).toHaveLength(2);
});

it.each<[string, Partial<KnownConfiguration>, number, string]>([
  ['is disabled', { enabled: false }, 0, 'webhook-disabled'],
  ['has another event type', { eventType: 'PIX_STATIC' }, 0, 'not-redeliverable'],
  ['would get a notification that is no longer stored', {}, HOUR_MS, 'not-redeliverable'],
])('an event is refused when its webhook %s', async (_what, configuration, ageMs, code) => {
  webhook = { ...webhook, ...configuration };
  await keep(out({}, { tenantId }), Date.now() - ageMs);
  await expect(send(WANTED)).rejects.toMatchObject({ code });
  expect([sent, audit]).toEqual([[], []]);
});

it('an event that nobody reported is 404, and a malformed request 422', async () => {
  await expect(send(WANTED)).rejects.toMatchObject({ code: 'not-found' });
  for (const body of [{}, { eventId: 'evt_1' }, { ...WANTED, ref: 'x' }, { ...WANTED, status: 'dead' }])
    await expect(send(body)).rejects.toMatchObject({ code: 'invalid-request' });
});
