import { randomUUID } from 'node:crypto';
import { ALERTS, WEBHOOKS, createCaller } from './support/caller.js';
import type { Answer, CallOptions, Caller } from './support/caller.js';
import { makeTopics, startConfigApi } from './support/start-config-api.js';
import type { RunningConfigApi } from './support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
  acme = await api.tenant();
});
afterAll(() => api.stop());

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' };
const ONE = `${WEBHOOKS}/${randomUUID()}`;

const OPERATIONS: readonly (readonly [CallOptions, string])[] = [
  [{ method: 'GET' }, 'webhook.read'],
  [{ method: 'POST', body: HOOK }, 'webhook.write'],
  [{ method: 'PUT', body: HOOK }, 'webhook.write'],
  [{ method: 'GET', path: ONE }, 'webhook.read'],
  [{ method: 'POST', path: `${ONE}/secret` }, 'webhook.write'],
  [{ method: 'DELETE', path: `${ONE}/secret` }, 'webhook.write'],
  [{ method: 'GET', path: `${ONE}/changes` }, 'webhook.read'],
  [{ method: 'GET', path: ALERTS }, 'webhook.read'],
  [{ method: 'POST', path: ALERTS, body: { endpointUrl: HOOK.endpointUrl } }, 'webhook.write'],
  [{ method: 'DELETE', path: `${ALERTS}/${randomUUID()}` }, 'webhook.write'],
];
const named = OPERATIONS.map(
  ([options, scope]) => [options.method, options.path === undefined ? '' : 'of one', options, scope] as const,
);

const withHeader = async (authorization: string | undefined, options: CallOptions): Promise<Answer> =>
  createCaller(api.url, acme.tenantId, authorization).call(options);
const withToken = async (scope: string, options: CallOptions, claims = {}): Promise<Answer> =>
  withHeader(`Bearer ${await api.desk.tokenOf(acme.tenantId, scope, claims)}`, options);

describe.each(named)('%s %s', (_method, _one, options, scope) => {
  it('is 401 without a token, and says only the realm', async () => {
    const answer = await withHeader(undefined, options);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="webhooks"');
    expect(answer.body['code']).toBe('invalid-token');
  });

  it('is 401 with a token that is not valid', async () => {
    const answer = await withHeader('Bearer a.b.c', options);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain(
      'error="invalid_token", error_description="it is not one JWT after the word Bearer"',
    );
  });

  it('is 403 without the scope, which is named', async () => {
    const other = scope === 'webhook.read' ? 'webhook.write' : 'webhook.read';
    const answer = await withToken(other, options);
    expect(answer.status).toBe(403);
    expect(answer.body['code']).toBe('insufficient-scope');
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="webhooks", error="insufficient_scope", scope="${scope}"`,
    );
  });

  it('is 403 when the header tenantid names another tenant, or the token none', async () => {
    const foreign = await withToken(scope, { ...options, headers: { tenantid: 'other' } });
    const none = await withToken(scope, options, { tenant_id: undefined });
    expect([foreign.status, foreign.body['code']]).toEqual([403, 'forbidden-tenant']);
    expect([none.status, none.body['code']]).toEqual([403, 'forbidden-tenant']);
  });

  it('is served when the header tenantid names the same tenant, whatever hostdevelop says', async () => {
    const headers = { tenantid: acme.tenantId, hostdevelop: '"><evil>' };
    expect([200, 404, 422]).toContain((await withToken(scope, { ...options, headers })).status);
  });
});

describe('a tenant', () => {
  it('sees and changes only what is its own', async () => {
    const beta = await api.tenant();
    const { ref } = (await acme.post({ ...HOOK, applicationId: 'mine' })).body;
    expect((await beta.list({ ref: String(ref) })).body).toEqual({ data: [], results: 0 });
    expect((await beta.get(String(ref))).status).toBe(404);
    expect((await beta.put({ ...HOOK, applicationId: 'mine', enabled: false })).status).toBe(422);
    const own = await beta.post({ ...HOOK, applicationId: 'mine' });
    expect(own.status).toBe(200);
    expect(own.body['ref']).not.toBe(ref);
  });

  it('is not taken from a malformed claim', async () => {
    for (const tenant of ['', 'a/b', ' acme', 'a\nb', '$ne', 7, ['acme'], { $ne: '' }, null]) {
      const answer = await withToken('webhook.read', { method: 'GET' }, { tenant_id: tenant });
      expect(answer.status).toBe(403);
    }
  });
});

describe('methods and paths', () => {
  it.each([
    ['DELETE', WEBHOOKS, 'GET, HEAD, POST, PUT'],
    ['PATCH', WEBHOOKS, 'GET, HEAD, POST, PUT'],
    ['OPTIONS', WEBHOOKS, 'GET, HEAD, POST, PUT'],
    ['PUT', ONE, 'GET, HEAD'],
    ['DELETE', ONE, 'GET, HEAD'],
    ['GET', `${ONE}/secret`, 'POST, DELETE'],
    ['HEAD', `${ONE}/secret`, 'POST, DELETE'],
    ['PUT', ALERTS, 'GET, HEAD, POST'],
    ['GET', `${ALERTS}/${randomUUID()}`, 'DELETE'],
  ])('%s %s does not exist: 405 with Allow', async (method, path, allow) => {
    const answer = await acme.call({ method, path });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each(['/', '/integration/v1', '/integration/v2/webhooks'])('%s is 404', async (path) => {
    const answer = await acme.call({ method: 'GET', path });
    expect(answer.status).toBe(404);
    expect(answer.body['code']).toBe('not-found');
  });
});

it.each([
  [`${ONE}/health`, 'query-api'],
  [`${WEBHOOKS}/deliveries`, 'query-api'],
  ['/integration/v1/pix/cob/x', 'query-api'],
  ['/integration/v1/events', 'ingest'],
])('%s is 404 and names its owner %s', async (path, owner) => {
  const answer = await acme.call({ method: 'GET', path });
  expect(answer.status).toBe(404);
  expect(answer.body['detail']).toBe(`this path is served by ${owner}, not by this service`);
});

describe('every answer', () => {
  it('carries the request id, in the problem too', async () => {
    const given = await acme.call({ method: 'GET', headers: { 'x-request-id': 'order-4711' } });
    expect(given.headers.get('x-request-id')).toBe('order-4711');
    const made = await acme.call({ method: 'DELETE', headers: { 'x-request-id': 'not valid!' } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.body['correlationId']).toBe(made.headers.get('x-request-id'));
  });

  it('for an error is a problem whose instance is the path, without the query', async () => {
    const { body, headers } = await acme.list('limit=0');
    expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(body).toMatchObject({
      type: 'urn:webhooks:problem:invalid-request',
      title: 'The request is not valid',
      status: 422,
      instance: WEBHOOKS,
    });
  });
});
