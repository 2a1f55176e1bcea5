import { deliveryIdOf } from '@webhooks/contracts';
import type { AlertSettings, AttemptLogEntry, DeliveryTask } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import type { ConfigurationRow } from '../../src/configurations.js';
import { writeEntries } from '../../src/delivery-log/compose.js';
import { recordEpisodes } from '../../src/episodes/record-episodes.js';
import { noteCertificates, reviewPage } from '../../src/episodes/review-episodes.js';
import type { AlertPorts } from '../../src/episodes/send-alerts.js';
import { dead, delivered, failed, REF } from '../delivery-log/support/entries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';
import { ENABLED } from '../redelivery/support/open-rig.js';

const MINUTE_MS = 60_000;
const AFTER_MS = 5 * MINUTE_MS;
const ALERT_REF = '0191e7a2-0000-7000-8000-00000000000a';
const START = Date.now() - 3_600_000;

let test: TestDatabase;
beforeEach(async () => {
  test = await openTestDatabase(randomName('alerts'));
});
afterEach(() => test.close());

interface SentAlert {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const refOf = (index: number) => `0191e7a2-0000-7000-8000-${String(index).padStart(12, '0')}`;

/** Reviews on the real database, with a clock, configurations and a publisher of the test. */
function openRig(over: Partial<AlertPorts> = {}) {
  let now = START;
  let moved = '';
  const tenantId = randomName('tenant');
  const published: DeliveryTask[] = [];
  const webhooks = new Map<string, ConfigurationRow>();
  const add = (ref: string, configuration: Partial<ConfigurationRow> = {}) =>
    webhooks.set(ref, { ...ENABLED, tenantId, ref, ...configuration });
  const alertTo = (alert: AlertSettings, ref = ALERT_REF) => add(ref, { eventType: 'ENDPOINT_ALERT', alert });
  add(REF);
  const ports: AlertPorts = {
    database: test.database,
    configurations: {
      known: (_tenant, ref) => webhooks.get(ref),
      alertEndpointsOf: () =>
        [...webhooks.values()].flatMap(({ ref, alert }) => (alert ? [{ ref, alert }] : [])),
      upToDate: () => Promise.resolve(),
      all: () => webhooks.values(),
    },
    catchUp: () => Promise.resolve('passed'),
    publish: (tasks) => Promise.resolve(void published.push(...tasks)),
    failingAfterMs: AFTER_MS,
    now: () => now,
    ...over,
  };
  const review = async (changed: Partial<AlertPorts> = {}): Promise<void> => {
    let after = '';
    do after = await reviewPage(after, { ...ports, ...changed }, (place) => (moved = place));
    while (after !== '');
  };
  return {
    ports,
    tenantId,
    published,
    alertTo,
    add,
    review,
    /** Reviews on behind the tenant whose alerts failed. */
    reviewOn: (changed: Partial<AlertPorts>) => reviewPage(moved, { ...ports, ...changed }, () => undefined),
    at: (minute: number) => START + minute * MINUTE_MS,
    /** The alerts that were published, in the format `event`. */
    sent: () => published.map(({ body }) => JSON.parse(String(body)) as SentAlert),
    types: () => published.map(({ body }) => (JSON.parse(String(body)) as SentAlert).type),
    fail: (minute: number, ref = REF) =>
      record([failed({ at: START + minute * MINUTE_MS }, { tenantId, ref })]),
    succeed: (minute: number, ref = REF) =>
      record([delivered({ at: START + minute * MINUTE_MS }, { tenantId, ref })]),
    record: (entries: readonly AttemptLogEntry[]) => record(entries),
    /** Lets the time be this minute, and reviews. */
    reviewAt: async (minute: number, changed: Partial<AlertPorts> = {}) => {
      now = START + minute * MINUTE_MS;
      await review(changed);
    },
  };
  function record(entries: readonly AttemptLogEntry[]) {
    return recordEpisodes(test.database, entries, AFTER_MS);
  }
}

const EVENT: AlertSettings = { format: 'event', language: 'en' };

it('an endpoint that fails and recovers twice is told four times, each once', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  for (const start of [0, 20]) {
    await rig.fail(start);
    await rig.reviewAt(start + 4);
    await rig.fail(start + 5);
    await rig.reviewAt(start + 6);
    await rig.reviewAt(start + 8);
    await rig.succeed(start + 9);
    await rig.reviewAt(start + 10);
    await rig.reviewAt(start + 12);
  }
  const both = ['endpoint.failing', 'endpoint.recovered'];
  expect(rig.types()).toEqual([...both, ...both]);
  expect(new Set(rig.sent().map(({ id }) => id)).size).toBe(4);
  expect(rig.sent()[0]).toEqual({
    id: expect.stringMatching(/^alert_[a-z2-7]{52}$/) as string,
    type: 'endpoint.failing',
    occurredAt: new Date(rig.at(5)).toISOString(),
    data: {
      ref: REF,
      endpointUrl: ENABLED.endpointUrl,
      since: new Date(rig.at(0)).toISOString(),
      attempts: 2,
      lastError: '503',
      waiting: 0,
    },
  });
  const [task] = rig.published;
  const deliveryId = deliveryIdOf(rig.tenantId, ALERT_REF, task?.eventId ?? '');
  expect(task).toMatchObject({ eventType: 'ENDPOINT_ALERT', ref: ALERT_REF, cycle: '0', deliveryId });
});

it("a fault at one tenant stops no other tenant's alerts", async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  await rig.fail(0);
  await rig.record([failed({ at: START }, { tenantId: randomName('tenant'), ref: REF })]);
  let calls = 0;
  const publish = () => (calls++ === 0 ? Promise.reject(new Error('no broker')) : Promise.resolve());
  await expect(rig.reviewAt(6, { publish })).rejects.toThrow('no broker');
  await rig.reviewOn({ publish });
  expect(calls).toBe(2);
});

it('each alert endpoint of the tenant gets the alert in its format and language', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  rig.alertTo({ format: 'text', language: 'pt-BR' }, refOf(11));
  await rig.fail(0);
  await rig.reviewAt(6);
  expect(rig.published.map(({ ref }) => ref)).toEqual([ALERT_REF, refOf(11)]);
  expect(new Set(rig.published.map(({ eventId }) => eventId)).size).toBe(1);
  const [, { text } = { text: '' }] = rig.published.map(
    ({ body }) => JSON.parse(String(body)) as { text: string },
  );
  expect(text).toMatch(
    /^Endpoint com falha: https:\/\/hook\.acme\.com\.br\/pix, falhando desde: .* erro: 503\. /,
  );
});

it('an id never has two bodies, and nothing is left out, wherever an instance dies', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  await rig.fail(0);
  const dying = { publish: () => Promise.reject(new Error('died')) };
  await expect(rig.reviewAt(6, dying)).rejects.toThrow('died');
  await rig.fail(7);
  // It dies after it published, before it emptied the outbox.
  let isOver = false;
  const publish: AlertPorts['publish'] = async (tasks) => {
    await rig.ports.publish(tasks);
    isOver = true;
  };
  const writing: AlertPorts['database']['writing'] = () => {
    const runQuery = test.database.writing();
    return (statement) => (isOver ? Promise.reject(new Error('died')) : runQuery(statement));
  };
  await expect(rig.reviewAt(8, { publish, database: { ...test.database, writing } })).rejects.toThrow('died');
  await rig.fail(9);
  await rig.reviewAt(10);
  await rig.reviewAt(12);
  expect(rig.types()).toEqual(['endpoint.failing', 'endpoint.failing']);
  expect(new Set(rig.published.map(({ body }) => String(body))).size).toBe(1);
});

it('instances that review at the same time send an alert with one body', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  await rig.fail(0);
  await Promise.all(Array.from({ length: 4 }, () => rig.reviewAt(6)));
  await rig.reviewAt(8);
  expect(new Set(rig.published.map(({ body }) => String(body))).size).toBe(1);
  expect(new Set(rig.types())).toEqual(new Set(['endpoint.failing']));
});

it('of 200 endpoints that fail at once alert endpoints get counts', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  const refs = Array.from({ length: 200 }, (_, index) => refOf(100 + index));
  await rig.record(refs.map((ref) => failed({ at: START }, { tenantId: rig.tenantId, ref })));
  const beganAt = performance.now();
  for (let minute = 5; minute < 9; minute += 1) await rig.reviewAt(minute);
  process.stdout.write(`200 due alerts: ${(performance.now() - beganAt).toFixed(0)} ms\n`);
  expect(rig.published.length).toBeLessThanOrEqual(3);
  const counts = rig.sent().map(({ data }) => Number(data['count']));
  expect(rig.sent()[0]?.data).not.toHaveProperty('ref');
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200);
}, 240_000);

it('an alert endpoint that fails is not told, also when there is another one', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  rig.alertTo(EVENT, refOf(11));
  await rig.fail(0, ALERT_REF);
  await rig.record([dead({ at: rig.at(1) }, { tenantId: rig.tenantId, ref: ALERT_REF })]);
  await rig.reviewAt(6);
  await rig.reviewAt(8);
  expect(rig.published).toEqual([]);
});

it('what changes within a minute of an alert waits until it is over', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  await rig.fail(0);
  await rig.fail(0.5, refOf(100));
  await rig.reviewAt(5);
  await rig.reviewAt(5.9);
  expect(rig.published).toHaveLength(1);
  await rig.reviewAt(6);
  expect(rig.published).toHaveLength(2);
});

it('dead deliveries are told with their number, and with the number of those that wait', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  const { tenantId } = rig;
  const ended = ['evt_1', 'evt_2'].map((eventId) => dead({ at: rig.at(1) }, { tenantId, eventId }));
  const waiting = failed({ at: rig.at(1) }, { tenantId, eventId: 'evt_3' });
  await writeEntries(test.database.writing(), [...ended, waiting]);
  await rig.record(ended);
  await rig.reviewAt(2);
  await rig.reviewAt(4);
  expect(rig.sent()).toMatchObject([{ type: 'delivery.dead', data: { ref: REF, count: 2, waiting: 1 } }]);
});

it('a client certificate that ends within 30 days is told once, and again when another one does', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  const endsIn = (days: number) => new Date(START + days * 86_400_000).toISOString();
  for (const days of [31, 29, 29]) {
    rig.add(REF, { policy: { certificateNotAfter: endsIn(days) } });
    await noteCertificates(rig.ports);
    await rig.reviewAt(rig.published.length * 2);
  }
  expect(rig.sent()).toMatchObject([
    { type: 'certificate.expiring', data: { ref: REF, notAfter: endsIn(29) } },
  ]);
  rig.add(REF, { policy: { certificateNotAfter: endsIn(29.5) } });
  await noteCertificates(rig.ports);
  await rig.reviewAt(10);
  expect(rig.published).toHaveLength(2);
});

it('what happened more than a day ago, or before there was an alert endpoint, is not told', async () => {
  const rig = openRig();
  await rig.fail(0);
  await rig.reviewAt(6);
  rig.alertTo(EVENT);
  await rig.record([failed({ at: START - 2 * 86_400_000 }, { tenantId: rig.tenantId, ref: refOf(100) })]);
  await rig.reviewAt(8);
  expect(rig.published).toEqual([]);
});

it('an endpoint is not told as failing while attempts are not read, or after its webhook was disabled', async () => {
  const rig = openRig();
  rig.alertTo(EVENT);
  await rig.fail(0);
  await expect(rig.reviewAt(6, { catchUp: () => Promise.resolve('late') })).rejects.toThrow('not read yet');
  rig.add(REF, { enabled: false, updatedAt: new Date(rig.at(2)).toISOString() });
  await rig.reviewAt(6);
  await rig.reviewAt(8);
  expect(rig.published).toEqual([]);
});
