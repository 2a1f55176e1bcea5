import { randomBytes } from 'node:crypto';
import { encodeEvent, parseKeyring, renderNotification, TOPICS } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import type { ApiRequest } from '@webhooks/http-api';
import { buildEvent, eventually, randomName } from '@webhooks/testkit';
import { createPullOperation } from '../../src/payments/pull-notifications.js';
import type { PullPorts } from '../../src/payments/pull-notifications.js';
import { formatCursor, sealCursor } from '../../src/payments/pull-page.js';
import { faultOf } from '../support/openapi.js';
import { startQueryApi } from '../support/start-query-api.js';
import type { RunningQueryApi } from '../support/start-query-api.js';

const DAY_MS = 86_400_000;
const LONG = { timeoutMs: 60_000 };

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly code?: string;
  readonly data: readonly { readonly id: string; readonly eventType: string; readonly body: string }[];
  readonly results: number;
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

let service: RunningQueryApi;
let tenantId: string;
let token: string;
beforeAll(async () => {
  service = await startQueryApi();
});
beforeEach(async () => {
  tenantId = randomName('tenant');
  token = await service.desk.tokenOf(tenantId, 'event.read');
});
afterAll(() => service.stop());

async function pull(query: Record<string, string | number> = {}, options: RequestInit = {}): Promise<Answer> {
  const search = new URLSearchParams(query as Record<string, string>);
  const response = await fetch(`${service.url}/integration/v1/notifications?${search.toString()}`, {
    headers: { authorization: `Bearer ${token}` },
    ...options,
  });
  const body = (await response.json()) as Answer;
  if (response.ok) expect(faultOf({ $ref: '#/components/schemas/NotificationPage' }, body)).toBeUndefined();
  return { ...body, status: response.status, retryAfter: response.headers.get('retry-after') };
}

const publish = (events: readonly PaymentEvent[]): Promise<void> =>
  service.publish(
    ...events.map((event, at) => ({ topic: TOPICS.events, partition: at % 12, value: encodeEvent(event) })),
  );
const build = (count: number, overrides: Partial<PaymentEvent> = {}): PaymentEvent[] =>
  Array.from({ length: count }, () => buildEvent({ tenantId, ...overrides }));
const idsOf = (some: readonly { readonly id: string }[]): string[] => some.map(({ id }) => id).sort();

/** Follows a chain until it has shown so many; gives what it showed and where it stands. */
async function follow(count: number, query: Record<string, string | number> = {}) {
  const shown: Answer['data'][number][] = [];
  let cursor: string | undefined;
  await eventually(async () => {
    const answer = await pull({ ...query, ...(cursor !== undefined && { after: cursor }) });
    expect(answer).toMatchObject({ status: 200, results: answer.data.length });
    shown.push(...answer.data);
    cursor = answer.nextCursor;
    return shown.length >= count && !answer.hasMore;
  }, LONG);
  return { shown, after: cursor ?? '' };
}

/** As many requests that wait as there are queries; answered when something comes, or aborted. */
function waitMany(count: number, after: string) {
  const abort = new AbortController();
  const answers = Array.from({ length: count }, () => pull({ after, wait: 25 }, { signal: abort.signal }));
  return { abort, answers };
}

/** The answer to one who would wait too, once it is refused. */
const refused = (after: string): Promise<Answer> =>
  eventually(async () => {
    const answer = await pull({ after, wait: 1 });
    return answer.status === 429 && answer;
  });

it('shows a tenant its own notifications with the bytes that are sent, each once, in pages', async () => {
  const events = build(30);
  const foreign = buildEvent({ tenantId: randomName('stranger') });
  await publish([foreign, ...events]);
  const { shown, after } = await follow(events.length, { limit: 7 });
  const expected = events.map((event) => ({
    ...{ id: event.id, eventType: event.eventType },
    body: renderNotification(event).toString(),
  }));
  const byId = (one: { readonly id: string }, other: { readonly id: string }): number =>
    one.id < other.id ? -1 : 1;
  expect(shown.toSorted(byId)).toEqual(expected.sort(byId));
  expect(await pull({ after })).toMatchObject({ data: [], results: 0, hasMore: false });
});

it('does not wait when a page has notifications', async () => {
  await publish(build(60));
  await follow(60);
  let page = await pull({ limit: 1, wait: 25 });
  for (let pages = 1; pages < 60; pages += 1)
    page = await pull({ after: page.nextCursor, limit: 1, wait: 25 });
  expect(page).toMatchObject({ status: 200, results: 1, hasMore: true });
}, 20_000);

it('shows one type, and continues after the others', async () => {
  const [wanted, others] = [build(4, { eventType: 'PIX_OUT' }), build(9, { eventType: 'PIX_STATIC' })];
  await publish([...others, ...wanted]);
  const { shown, after } = await follow(4, { eventType: 'PIX_OUT', limit: 3 });
  expect(idsOf(shown)).toEqual(idsOf(wanted));
  await follow(9);
  expect(await pull({ after, eventType: 'PIX_OUT' })).toMatchObject({ results: 0, hasMore: false });
});

it('begins with the next notification after now, and a wait ends as soon as one comes', async () => {
  await publish(build(3));
  await follow(3);
  const { nextCursor: after } = await pull({ after: 'now' });
  expect(await pull({ after, wait: 1 })).toMatchObject({ status: 200, results: 0, hasMore: false });
  const begin = performance.now();
  const waiting = pull({ after, wait: 25 });
  const [next = buildEvent()] = build(1);
  await publish([next]);
  expect(await waiting).toMatchObject({ data: [{ id: next.id }], results: 1 });
  expect(performance.now() - begin).toBeLessThan(10_000);
});

const RING = parseKeyring(`cursor:${randomBytes(32).toString('base64')}`);

/** The operation without a topic, for whoever asks for a tenant. */
function openPages(
  readPage: PullPorts['readPage'] = (_wish, next) => Promise.resolve({ data: [], next, hasMore: false }),
) {
  const pages = createPullOperation({
    projected: () => Promise.resolve({ at: 1, ends: new Map(), pages: new Map() }),
    readPage,
    ends: () => Promise.resolve(new Map()),
    generation: () => 'one',
    keyring: () => Promise.resolve(RING),
    retentionMs: DAY_MS,
    waiting: { total: 9, perTenant: 2 },
  });
  return (tenant: string, query: Record<string, string> = {}) => {
    const identity = { tenantId: tenant, scopes: [] };
    const isOver = () => false;
    return pages.handle({ identity, isOver, query: new URLSearchParams(query) } as unknown as ApiRequest);
  };
}

it('bounds the pages of a tenant that are read at once, even without a wait', async () => {
  const read = Promise.withResolvers<never>();
  const page = openPages(() => read.promise);
  const [first, second] = [page('one'), page('one')];
  await expect(page('one')).rejects.toMatchObject({ code: 'too-many-requests' });
  const other = page('other');
  read.reject(new Error('read'));
  for (const read of [first, second, other]) await expect(read).rejects.toThrow('read');
});

it('lets ten requests of a tenant wait, and another one when one of them has hung up', async () => {
  const { after } = await follow(0);
  const { abort, answers } = waitMany(10, after);
  expect(await refused(after)).toMatchObject({ code: 'too-many-requests', retryAfter: '1' });
  expect(await pull({ after })).toMatchObject({ status: 200 });
  const headers = {
    authorization: `Bearer ${await service.desk.tokenOf(randomName('other'), 'event.read')}`,
  };
  const { nextCursor } = await pull({}, { headers });
  expect(await pull({ after: nextCursor, wait: 1 }, { headers })).toMatchObject({ status: 200 });
  abort.abort();
  expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  await eventually(async () => (await pull({ after, wait: 1 })).status === 200);
});

it('gives cursors that only it can read, and refuses one that is too old, of another rebuild generation, tenant or key, or forged', async () => {
  const page = openPages();
  const given = {
    generation: 'one',
    caughtUpAt: Date.now() - DAY_MS / 2,
    first: 0,
    offsets: new Map([[0, 7]]),
  };
  const other = parseKeyring(`cursor:${randomBytes(32).toString('base64')}`);
  const sealed = sealCursor(RING, given, 'acme');
  expect(await page('acme', { after: sealed })).toMatchObject({ status: 200 });
  const outer = Buffer.from(sealed.replaceAll('.', ''), 'hex').toString();
  const inner = outer.split(/[^\w+/=-]/).map((part) => Buffer.from(part, 'base64').toString('latin1'));
  expect([outer, ...inner].join()).not.toContain(formatCursor(given));
  const refused = [
    sealCursor(RING, { ...given, caughtUpAt: Date.now() - 2 * DAY_MS }, 'acme'),
    sealCursor(RING, { ...given, generation: 'another' }, 'acme'),
    sealCursor(RING, given, 'beta'),
    sealCursor(other, given, 'acme'),
    `${sealed.slice(0, -2)}00`,
    '3f9a1c2e.mi4kd0zv.0.2s',
  ];
  for (const after of refused)
    expect([after, await page('acme', { after }).catch((error: unknown) => error)]).toMatchObject([
      ...[after, { code: 'cursor-expired' }],
    ]);
});

it('gives cursors that do not reveal how many events all tenants have', async () => {
  const shown = async () => (await pull()).nextCursor;
  const before = await shown();
  const foreign = randomName('stranger');
  await publish(Array.from({ length: 40 }, () => buildEvent({ tenantId: foreign })));
  const reader = await service.desk.tokenOf(foreign, 'event.read');
  const headers = { authorization: `Bearer ${reader}` };
  await eventually(async () => (await pull({}, { headers })).results === 40, LONG);
  const after = await shown();
  expect(after).toHaveLength(before.length);
  expect(await shown()).not.toBe(after);
});

it('refuses a malformed cursor, and a caller without the scope', async () => {
  for (const query of [{ after: 'yesterday' }, { wait: 26 }, { wait: -1 }, { limit: 0 }, { limit: 1_001 }])
    expect([query, await pull(query)]).toMatchObject([query, { status: 422, code: 'invalid-request' }]);
  const headers = { authorization: `Bearer ${await service.desk.tokenOf(tenantId, 'webhook.read')}` };
  expect(await pull({}, { headers })).toMatchObject({ status: 403, code: 'insufficient-scope' });
});

it('responds to waiting requests when the service ends', async () => {
  const mine = service;
  service = await startQueryApi();
  token = await service.desk.tokenOf(tenantId, 'event.read');
  const { after } = await follow(0);
  const { answers } = waitMany(10, after);
  await refused(after);
  const begin = performance.now();
  await service.stop();
  service = mine;
  for (const answer of answers) expect(await answer).toMatchObject({ status: 200, results: 0 });
  expect(performance.now() - begin).toBeLessThan(15_000);
});
