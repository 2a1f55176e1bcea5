import { createClient, ProblemError } from '@webhooks/client';
import type { Client } from '@webhooks/client';
import { emptyTestEngines } from '@webhooks/local';
import type { DevelopmentClient } from '@webhooks/local';
import { buildEvent, eventually, openApiDocument } from '@webhooks/testkit';
import { readEvents } from './read-topic.js';
import type { SeenRecord } from './read-topic.js';
import { CLIENTS, startIngest } from './start-ingest.js';
import type { RunningIngest } from './start-ingest.js';

const { faultsOf } = openApiDocument(new URL('../openapi.yaml', import.meta.url));

const PATH = '/integration/v1/events';
const ANY_TENANT = 'Bearer realm="webhooks", error="insufficient_scope", scope="event.write.any"';

let ingest: RunningIngest;
let topic: Awaited<ReturnType<typeof readEvents>>;

const clientOf = ({ clientId, clientSecret }: DevelopmentClient): Client =>
  createClient({
    baseUrl: ingest.url,
    maxRetries: 0,
    credentials: { tokenEndpoint: ingest.tokenEndpoint, clientId, clientSecret },
  });

beforeAll(async () => {
  // The topic is read from its beginning, and other suites of this jest worker leave their events in it.
  await emptyTestEngines();
  ingest = await startIngest();
  topic = await readEvents();
});
afterAll(async () => {
  await topic.close();
  await ingest.stop();
});

const onTopic = (id: string): Promise<SeenRecord> =>
  eventually(
    () => {
      const found = topic.seen.find(({ headers }) => headers['ce_id'] === id);
      if (!found) throw new Error(`${id} is not on the topic`);
      return found;
    },
    { timeoutMs: 15_000, message: `waiting for ${id}` },
  );

async function post(
  body: string | Buffer,
  headers: Record<string, string> = {},
  client: DevelopmentClient = CLIENTS.acme,
): Promise<Response> {
  const token = await clientOf(client).token();
  const response = await fetch(`${ingest.url}${PATH}`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body)),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  await expectDocumented('POST', response);
  return response;
}

/** Every answer of these tests is one that `openapi.yaml` allows. */
async function expectDocumented(method: string, response: Response): Promise<void> {
  const body: unknown = await response.clone().json();
  const { status, headers } = response;
  expect(faultsOf({ method, path: PATH, status, contentType: headers.get('content-type'), body })).toEqual(
    [],
  );
}

const problemOf = async (work: Promise<unknown>): Promise<ProblemError['problem']> => {
  const fault: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (fault instanceof ProblemError) return fault.problem;
  throw new Error('expected a problem', { cause: fault });
};

describe('one event', () => {
  it('is on the topic with its key, its headers and only the listed fields when the response is 202', async () => {
    const event = buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' });
    const withName = JSON.stringify({ ...event, data: { ...event.data, payerName: 'Maria' } });
    const answer = await post(withName);
    expect([answer.status, await answer.json()]).toEqual([202, { id: event.id, status: 'accepted' }]);
    const record = await onTopic(event.id);
    expect(record.key).toBe(event.data.endToEndId);
    expect(JSON.parse(record.value)).toEqual(event);
    expect(record.headers).toMatchObject({
      ce_specversion: '1.0',
      ce_type: 'PIX_STATIC',
      ce_source: '/webhooks/ingest',
      ce_time: event.occurredAt,
    });
  });

  it('gets the same derived id for the same fact, and the tenant of the token', async () => {
    const { eventType, occurredAt, data } = buildEvent({ eventType: 'PIX_OUT' });
    const fact = { eventType, occurredAt, data } as Parameters<Client['postEvent']>[0];
    const [first, second] = [
      await clientOf(CLIENTS.acme).postEvent(fact),
      await clientOf(CLIENTS.acme).postEvent(fact),
    ];
    expect(first).toMatch(/^evt_[a-z2-7]{52}$/);
    expect(second).toBe(first);
    expect(JSON.parse((await onTopic(first)).value)).toMatchObject({ tenantId: 'acme' });
  });

  it('for another tenant is refused, unless the token may write for any', async () => {
    const event = buildEvent({ tenantId: 'globex' });
    expect(await problemOf(clientOf(CLIENTS.acme).postEvent(event))).toMatchObject({
      status: 403,
      code: 'forbidden-tenant',
    });
    expect((await post(JSON.stringify(event))).headers.get('www-authenticate')).toBe(ANY_TENANT);
    expect(await clientOf(CLIENTS.payments).postEvent(event)).toBe(event.id);
    // A forgotten tenant must not become the operator's own one.
    const { tenantId: _forgotten, ...rest } = event;
    const response = await post(JSON.stringify(rest), {}, CLIENTS.payments);
    expect(await response.json()).toMatchObject({ status: 422, violations: [{ property: 'tenantId' }] });
  });

  it('is refused when the request has a query', async () => {
    const response = await fetch(`${ingest.url}${PATH}?dryRun=true`, {
      method: 'POST',
      body: JSON.stringify(buildEvent({ tenantId: 'acme' })),
      headers: {
        authorization: `Bearer ${await clientOf(CLIENTS.acme).token()}`,
        'content-type': 'application/json',
      },
    });
    await expectDocumented('POST', response);
    expect(await response.json()).toMatchObject({ status: 422, violations: [{ property: 'dryRun' }] });
  });

  it('that is invalid gets a 422 that names the fields', async () => {
    const event = buildEvent({ tenantId: 'acme' });
    const problem = await problemOf(
      clientOf(CLIENTS.acme).postEvent({ ...event, data: { ...event.data, amount: '1' } } as typeof event),
    );
    expect(problem).toMatchObject({
      status: 422,
      code: 'invalid-request',
      violations: [{ property: 'data.amount' }],
    });
  });
});

describe('several events', () => {
  it('in an array have a result each, and the valid ones are published', async () => {
    const [good, foreign] = [buildEvent({ tenantId: 'acme' }), buildEvent({ tenantId: 'globex' })];
    const results = await clientOf(CLIENTS.acme).postEvents([good, { ...good, id: 'a.b' }, foreign]);
    expect(results).toMatchObject([
      { index: 0, id: good.id, status: 'accepted' },
      { index: 1, id: 'a.b', status: 'invalid', violations: [{ property: 'id' }] },
      { index: 2, id: foreign.id, status: 'forbidden-tenant' },
    ]);
    await onTopic(good.id);
  });

  it('as NDJSON may have empty lines, CRLF and a line that is no JSON', async () => {
    const [first, second] = [buildEvent({ tenantId: 'acme' }), buildEvent({ tenantId: 'acme' })];
    const results = await clientOf(CLIENTS.acme).postEventLines(
      `${JSON.stringify(first)}\r\n\n{"a":1,"a":1}\n${JSON.stringify(second)}`,
    );
    expect(results.map(({ index, line, status }) => [index, line, status])).toEqual([
      [0, 1, 'accepted'],
      [1, 3, 'invalid'],
      [2, 4, 'accepted'],
    ]);
    await onTopic(second.id);
  });

  it.each([
    ['invalid', (event: object) => ({ ...event, eventType: 'X' }), 422],
    ['of another tenant', (event: object) => ({ ...event, tenantId: 'globex' }), 403],
  ])('that are all %s are a problem with the same list', async (_, change, status) => {
    const response = await post(JSON.stringify([change(buildEvent({ tenantId: 'acme' }))]));
    expect(response.status).toBe(status);
    expect(response.headers.get('www-authenticate')).toBe(status === 403 ? ANY_TENANT : null);
    expect(await response.json()).toMatchObject({ status, results: [{ index: 0 }] });
  });

  it('of 1,000 are taken, of 1,001 not', async () => {
    const lines = Array.from({ length: 1_001 }, () =>
      JSON.stringify(buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' })),
    );
    const ndjson = { 'content-type': 'application/x-ndjson' };
    expect((await post(lines.slice(1).join('\n'), ndjson)).status).toBe(202);
    expect((await post(lines.join('\n'), ndjson)).status).toBe(422);
  });
});

describe('a body that cannot be used', () => {
  it.each<[string, string | Buffer, Record<string, string>]>([
    ['is no JSON', '{', {}],
    ['is empty', '', {}],
    ['is an empty array', '[]', {}],
    ['is an empty NDJSON', '\n\n', { 'content-type': 'application/x-ndjson' }],
    ['repeats a name', '{"id":"a","id":"b"}', {}],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['is text', 'x', { 'content-type': 'text/plain' }],
    ['is a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['is compressed', 'x', { 'content-encoding': 'gzip' }],
    ['is larger than 1 MiB', `"${'x'.repeat(1_048_576)}"`, {}],
    ['is a number', '42', {}],
    ['is nested too deeply', '['.repeat(40) + ']'.repeat(40), {}],
  ])('%s: 422', async (_, body, headers) => {
    const response = await post(body, headers);
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await response.json()).toMatchObject({
      code: 'invalid-request',
      instance: '/integration/v1/events',
    });
  });
});

describe('who may post', () => {
  it('is nobody without a token', async () => {
    const response = await fetch(`${ingest.url}${PATH}`, { method: 'POST', body: '{' });
    await expectDocumented('POST', response);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('Bearer');
  });

  it('is nobody with another scope, whatever the body', async () => {
    const response = await post('{', {}, CLIENTS.reader);
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('insufficient_scope');
  });

  it('is whoever uses POST', async () => {
    const response = await fetch(`${ingest.url}${PATH}`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
