import { jest } from '@jest/globals';
import { TOPICS, configurationKey, deliveryIdOf, encodeAttemptPack, encodeEvent } from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import { TableReader } from '@webhooks/kafka';
import { buildEvent, eventually, randomName } from '@webhooks/testkit';
import { v7 as uuidv7 } from 'uuid';
import { CatchUp } from '../src/projection/catch-up.js';
import { dayOf } from '../src/statements/daily-totals.js';
import { baseOf, delivered } from './delivery-log/support/entries.js';
import { startQueryApi } from './support/start-query-api.js';
import type { RunningQueryApi } from './support/start-query-api.js';

const OWNER = randomName('owner');
const STRANGER = randomName('stranger');
const OPERATOR = randomName('operator');
const EVENT_TYPE = 'PIX_DYNAMIC_PAID';
const ROOT = '/integration/v1';
const WEBHOOKS = `${ROOT}/webhooks`;
const FROM = '2026-01-01T00:00:00Z';
const timeIn = (ms: number): string => new Date(Date.now() + ms).toISOString();
const DAY = `from=${timeIn(-43_200_000)}&to=${timeIn(43_200_000)}`;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/gu;
const LONG = { timeoutMs: 60_000 };
const SCOPES = 'cob.read pix.read event.read delivery.read delivery.write';

/** What a tenant has, by its ids. */
interface Ids {
  readonly txId: string;
  readonly endToEndId: string;
  readonly eventId: string;
  readonly ref: string;
  readonly deliveryId: string;
  /** The id that the delivery would have if it were the stranger's. */
  readonly strangersId: string;
  readonly job: string;
}

const made = () => {
  const txId = uuidv7().replaceAll('-', '');
  const event = buildEvent({ tenantId: OWNER, eventType: EVENT_TYPE, data: { txId } });
  const { endToEndId } = event.data;
  const ref = uuidv7();
  const place = { tenantId: OWNER, ref, eventId: event.id };
  const { deliveryId, eventId } = baseOf(place);
  const strangersId = deliveryIdOf(STRANGER, ref, eventId);
  return { event, place, ids: { txId, endToEndId, eventId, ref, deliveryId, strangersId, job: uuidv7() } };
};

let service: RunningQueryApi;
const { event, place, ids } = made();
let owned: Ids = ids;
/** Of the same forms; nobody has them. */
const unknown: Ids = made().ids;
const tokens: Record<string, string> = {};
/** Statements of the stranger's requests, in the order in which they were sent. */
const commands: string[] = [];

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

const get = (path: string): Call => ({ method: 'GET', path });
const post = (path: string, body?: object): Call => ({ method: 'POST', path, ...(body && { body }) });

/** `named`: the tenant of the header `tenantid`. */
async function exchange(tenantId: string, { method, path, body }: Call, named?: string) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${tokens[tenantId] ?? ''}`,
      // It comes back in the answer: two requests with one id can be answered with the same bytes.
      'x-request-id': 'request',
      ...(body && { 'content-type': 'application/json' }),
      ...(named && { tenantid: named }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'date'));
  return { status: response.status, headers, text: await response.text() };
}

/** Resolves when a job has ended: while it runs, the service waits for the topics for its own sake. */
const untilEnded = (job: string): Promise<unknown> =>
  eventually(async () => {
    const { text } = await exchange(OWNER, get(`${WEBHOOKS}/redeliveries/${job}`));
    return (JSON.parse(text) as { state: string }).state === 'completed';
  }, LONG);

/** A notification that was delivered, its webhook, and a job: all the owner's, and projected. */
async function makeOwned(): Promise<void> {
  const at = new Date().toISOString();
  const configuration: ConfigurationRecord = {
    ...{ v: 1, tenantId: OWNER, ref: owned.ref, revision: 1, eventType: EVENT_TYPE, enabled: true },
    ...{ endpointUrl: 'https://hook.acme.com.br/pix', createdAt: at, updatedAt: at },
  };
  const entry = delivered({ eventType: EVENT_TYPE }, place);
  await service.publish(
    {
      topic: TOPICS.configurations,
      key: configurationKey(OWNER, owned.ref),
      value: JSON.stringify(configuration),
    },
    { topic: TOPICS.events, key: owned.endToEndId, value: encodeEvent(event) },
    { topic: TOPICS.attempts, key: owned.deliveryId, value: encodeAttemptPack([entry]) },
  );
  const job = await eventually(async () => {
    const begun = await exchange(OWNER, post(`${WEBHOOKS}/redeliveries`, { ref: owned.ref, from: FROM }));
    return begun.status === 202 && (JSON.parse(begun.text) as { id: string }).id;
  }, LONG);
  owned = { ...owned, job };
  await untilEnded(job);
}

beforeAll(async () => {
  service = await startQueryApi();
  for (const tenantId of [OWNER, STRANGER]) tokens[tenantId] = await service.desk.tokenOf(tenantId, SCOPES);
  tokens[OPERATOR] = await service.desk.tokenOf(OPERATOR, `${SCOPES} tenant.any`);
  service.onCommand(({ command }) => {
    // What the service does all the time names neither.
    const { lsid: _session, $clusterTime: _clock, ...rest } = command;
    const text = JSON.stringify(rest).replaceAll(TIME, '<time>');
    const marks = [STRANGER, owned.strangersId, unknown.strangersId];
    if (marks.some((mark) => text.includes(mark))) commands.push(text);
  });
  await makeOwned();
});
afterAll(async () => {
  jest.restoreAllMocks();
  await service.stop();
});

/** What a stranger is answered, and what was done for it: its statements, and how often it waited for a topic. */
async function seen(call: Call) {
  const waits = [jest.spyOn(CatchUp.prototype, 'wait'), jest.spyOn(TableReader.prototype, 'catchUp')];
  const answer = await eventually(async () => {
    commands.length = 0;
    for (const spy of waits) spy.mockClear();
    const { status, ...rest } = await exchange(STRANGER, call);
    // Other tests use the same topics: with much to read it may be told to ask again.
    return status !== 503 && { status, ...rest };
  }, LONG);
  return { ...answer, commands: [...commands], waits: waits.flatMap((spy) => spy.mock.calls).length };
}

/** With names in the place of ids: all in which two requests, and what comes of them, may differ. */
const without = (value: object, names: Ids): unknown =>
  JSON.parse(
    Object.entries(names).reduce(
      (text, [name, id]) => text.replaceAll(String(id), `<${name}>`),
      JSON.stringify(value),
    ),
  );

const NOT_FOUND = 404;

type Row = readonly [
  what: string,
  call: (ids: Ids) => Call,
  expected: { readonly status: number; readonly commands: number; readonly waits: number },
];

const CALLS: readonly Row[] = [
  ['a charge', ({ txId }) => get(`${ROOT}/pix/cob/${txId}`), { status: NOT_FOUND, commands: 1, waits: 1 }],
  [
    'a transaction',
    ({ endToEndId }) => get(`${ROOT}/pix/transaction?endToEndId=${endToEndId}`),
    { status: NOT_FOUND, commands: 1, waits: 1 },
  ],
  [
    'the payments of a day',
    () => get(`${ROOT}/pix/transactions?${DAY}`),
    { status: 200, commands: 1, waits: 0 },
  ],
  [
    'a notification',
    ({ eventId }) => get(`${ROOT}/notifications/${eventId}`),
    { status: NOT_FOUND, commands: 2, waits: 1 },
  ],
  [
    'an event to be sent to a webhook',
    ({ eventId, ref }) => post(`${WEBHOOKS}/deliveries`, { eventId, ref }),
    { status: NOT_FOUND, commands: 2, waits: 3 },
  ],
  [
    'a delivery',
    ({ deliveryId }) => get(`${WEBHOOKS}/deliveries/${deliveryId}`),
    { status: NOT_FOUND, commands: 2, waits: 1 },
  ],
  [
    'a delivery to be sent again',
    ({ deliveryId }) => post(`${WEBHOOKS}/deliveries/${deliveryId}/redeliver`),
    { status: NOT_FOUND, commands: 2, waits: 1 },
  ],
  [
    'the deliveries of a webhook',
    ({ ref }) => get(`${WEBHOOKS}/deliveries?ref=${ref}`),
    { status: 200, commands: 1, waits: 0 },
  ],
  [
    'the deliveries of an event',
    ({ eventId }) => get(`${WEBHOOKS}/deliveries?eventId=${eventId}`),
    { status: 200, commands: 2, waits: 1 },
  ],
  [
    'the deliveries of an event to a webhook',
    ({ eventId, ref }) => get(`${WEBHOOKS}/deliveries?eventId=${eventId}&ref=${ref}`),
    { status: 200, commands: 2, waits: 1 },
  ],
  [
    'the deliveries of a transaction',
    ({ endToEndId }) => get(`${WEBHOOKS}/deliveries?endToEndId=${endToEndId}`),
    { status: 200, commands: 4, waits: 2 },
  ],
  [
    'the deliveries of a charge',
    ({ txId }) => get(`${WEBHOOKS}/deliveries?txId=${txId}`),
    { status: 200, commands: 4, waits: 2 },
  ],
  [
    'a job',
    ({ job }) => get(`${WEBHOOKS}/redeliveries/${job}`),
    { status: NOT_FOUND, commands: 1, waits: 0 },
  ],
  [
    'a job to be cancelled',
    ({ job }) => post(`${WEBHOOKS}/redeliveries/${job}/cancel`),
    { status: NOT_FOUND, commands: 2, waits: 0 },
  ],
  [
    'a job for a webhook',
    ({ ref }) => post(`${WEBHOOKS}/redeliveries`, { ref, from: FROM }),
    { status: NOT_FOUND, commands: 0, waits: 1 },
  ],
  [
    'the health of a webhook',
    ({ ref }) => get(`${WEBHOOKS}/${ref}/health`),
    { status: NOT_FOUND, commands: 0, waits: 1 },
  ],
  ['the overview', () => get(`${WEBHOOKS}/overview`), { status: 200, commands: 4, waits: 1 }],
  [
    'a statement of a day',
    () => get(`${ROOT}/statements/${dayOf(Date.now())}`),
    { status: 200, commands: 1, waits: 4 },
  ],
  [
    'a test of a webhook',
    ({ ref }) => post(`${WEBHOOKS}/${ref}/test`),
    { status: NOT_FOUND, commands: 0, waits: 1 },
  ],
];

/**
 * What another tenant has looks exactly like what nobody has: the same bytes, after the same statements and
 * the same waits, so that neither the answer nor its time tells that it exists.
 */
describe.each(CALLS)('%s', (_what, call, expected) => {
  it('gets a response for its owner', async () => {
    const text = await eventually(async () => {
      const answer = await exchange(OWNER, call(owned));
      expect([200, 202]).toContain(answer.status);
      expect(answer.text).not.toContain('"results":0');
      return answer.text;
    }, LONG);
    const { method, path } = call(owned);
    if (method === 'POST' && path.endsWith('/redeliveries'))
      await untilEnded((JSON.parse(text) as { id: string }).id);
  });

  it('of another tenant is treated like an unknown one, in its bytes, statements and waits', async () => {
    // The service also waits for topics for its own sake, while endpoints of other tests fail: then once more.
    await eventually(async () => {
      const foreign = await seen(call(owned));
      const absent = await seen(call(unknown));
      expect(without(foreign, owned)).toEqual(without(absent, unknown));
      const { status, commands: sent, waits } = foreign;
      expect({ status, commands: sent.length, waits }).toEqual(expected);
    }, LONG);
  });
});

const reads = CALLS.filter(([, call]) => call(ids).method === 'GET');
it.each(reads)(
  '%s gets a response for an operator with tenant.any who names its owner',
  async (_what, call) => {
    await eventually(async () => {
      const { status, text } = await exchange(OPERATOR, call(owned), OWNER);
      expect(status).toBe(200);
      expect(text).not.toContain('"results":0');
    }, LONG);
  },
);
