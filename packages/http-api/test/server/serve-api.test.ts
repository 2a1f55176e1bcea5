import { compileCheck } from '@webhooks/contracts';
import { eventually, TokenDesk } from '@webhooks/testkit';
import { AppError, readJson } from '../../src/index.js';
import type { ApiReply, ApiRequest, Operation, QueryParameter } from '../../src/index.js';
import { openServedApi } from '../support/served-api.js';
import type { ServedApi } from '../support/served-api.js';

let desk: TokenDesk;
let api: ServedApi;

const checkThing = compileCheck<{ name: string }>({
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string', maxLength: 10 } },
});

const echo = (request: ApiRequest): Promise<ApiReply> => {
  const { identity, params, query, body, requestId } = request;
  return Promise.resolve({
    status: 200,
    body: {
      ...{ tenantId: identity.tenantId, clientId: identity.clientId, params, requestId },
      ...{ query: [...query], bytes: body.byteLength, custom: request.header('x-custom') },
    },
  });
};

const anything: QueryParameter<string> = { expected: 'must be a text', parse: (text) => text };

/** Operations that wait, by how their waits stand. */
const waits: string[] = [];

const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/waits', scopes: ['thing.read'] },
    handle: async ({ isOver }) => {
      waits.push('begun');
      await eventually(isOver);
      waits.push('ended');
      return { status: 200 };
    },
  },
  { method: 'GET', path: '/things', scopes: ['thing.read'], handle: echo },
  {
    method: 'POST',
    path: '/things',
    scopes: ['thing.write', 'thing.any'],
    maxBodyBytes: 64,
    handle: (request) => Promise.resolve({ status: 200, body: readJson(request, checkThing) }),
  },
  {
    ...{ method: 'GET', path: '/things/:id', scopes: ['thing.read'] },
    query: { x: anything, y: anything },
    handle: echo,
  },
  {
    method: 'DELETE',
    path: '/things/:id',
    scopes: ['thing.write'],
    handle: ({ params }) => {
      if (params['id'] === 'bug') throw new TypeError('mongodb://user:secret@host said no');
      throw new AppError('unavailable', 'not now', {
        headers: { 'retry-after': '3' },
        members: { ref: 'x' },
      });
    },
  },
];

beforeAll(async () => {
  desk = await TokenDesk.open();
  api = await openServedApi(desk, OPERATIONS, {});
});
afterAll(async () => {
  await api.close();
  await desk.close();
});

async function call(path: string, init: RequestInit = {}, claims = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has('authorization')) headers.set('authorization', `Bearer ${await desk.token({ claims })}`);
  return fetch(`${api.url}${path}`, { ...init, headers });
}
const post = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  call('/things', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
const problemOf = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('an operation', () => {
  it('gets the caller, the decoded path, the query as it came and the headers', async () => {
    const response = await call('/things/a%20b?y=%26&x=a?b?c', { headers: { 'x-custom': 'é' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(await response.json()).toMatchObject({
      ...{ tenantId: 'acme', clientId: 'client-1', params: { id: 'a b' }, bytes: 0 },
      query: [
        ['y', '&'],
        ['x', 'a?b?c'],
      ],
    });
  });

  it('gets a body within its bound, and 422 names the fault of another', async () => {
    expect((await post('{"name":"a"}')).status).toBe(200);
    for (const body of ['{"name":7}', '{', '', '{"name":"a","name":"b"}', `{"name":"${'a'.repeat(60)}"}`])
      expect((await post(body)).status).toBe(422);
    const { violations } = await problemOf(await post('{"nam":"a"}'));
    expect(violations).toEqual([
      { property: 'name', reason: 'is required' },
      { property: 'nam', reason: 'is not a known field' },
    ]);
  });

  it('refuses a body that grows over its bound while it comes, and closes the connection', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('a'.repeat(40))),
    });
    const response = await call('/things', {
      ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
      ...{ duplex: 'half' },
    });
    expect(response.status).toBe(422);
    expect(response.headers.get('connection')).toBe('close');
  });

  it('that waits learns when its caller hangs up or the service ends', async () => {
    const caller = new AbortController();
    const lost = call('/waits', { signal: caller.signal }).catch(() => 'hung up');
    await eventually(() => waits.length === 1);
    caller.abort();
    await eventually(() => waits.length === 2);
    const own = api;
    api = await openServedApi(desk, OPERATIONS, {});
    const response = call('/waits');
    await eventually(() => waits.length === 3);
    expect(await api.close()).toBe(true);
    api = own;
    expect([await lost, (await response).status, ...waits]).toEqual([
      ...['hung up', 200, 'begun', 'ended', 'begun', 'ended'],
    ]);
  });

  it('needs one of its scopes, matched as a whole and in its case', async () => {
    const status = async (scope: unknown): Promise<number> => {
      const response = await call('/things', { method: 'POST', body: '{}' }, { scope });
      return response.status;
    };
    for (const scope of [
      undefined,
      '',
      'thing.read',
      'thing.write2',
      'xthing.write',
      'THING.WRITE',
      ['thing.write'],
    ])
      expect(await status(scope)).toBe(403);
    expect(await status('thing.any')).toBe(422);
    expect(await status('other thing.write')).toBe(422);
  });

  it('belongs to a tenant: the claim, which the header may repeat and not change', async () => {
    const status = async (tenantid: string | undefined, claims = {}): Promise<number> =>
      (await call('/things', tenantid === undefined ? {} : { headers: { tenantid } }, claims)).status;
    expect(await status('acme')).toBe(200);
    expect(await status('other')).toBe(403);
    expect(await status('acme, acme')).toBe(403);
    expect(await status('acme', { tenant_id: undefined })).toBe(403);
    expect(await status(undefined, { tenant_id: 'a/b' })).toBe(403);
  });

  it('takes no token from the query or the body', async () => {
    const token = await desk.token();
    expect((await fetch(`${api.url}/things?access_token=${token}`)).status).toBe(401);
    const body = new URLSearchParams({ access_token: token });
    expect((await fetch(`${api.url}/things`, { method: 'POST', body })).status).toBe(401);
  });
});

describe('a query', () => {
  it.each([
    ['GET', '/things?x=1', [{ property: 'x', reason: 'is not a known parameter' }]],
    ['POST', '/things?dryRun=true', [{ property: 'dryRun', reason: 'is not a known parameter' }]],
    ['DELETE', '/things/1?=', [{ property: '', reason: 'is not a known parameter' }]],
    [
      'GET',
      '/things/1?x=1&X=1&x=2&y=2&constructor=3',
      [
        { property: 'x', reason: 'must appear once' },
        { property: 'X', reason: 'is not a known parameter' },
        { property: 'constructor', reason: 'is not a known parameter' },
      ],
    ],
  ])('of %s %s is refused: the operation does not take it', async (method, path, violations) => {
    const response = await call(path, { method });
    expect(response.status).toBe(422);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid-request', violations });
  });

  it.each(['/things?', '/things?&&', '/things/1?y'])('without parameters is accepted: %s', async (path) => {
    expect((await call(path)).status).toBe(200);
  });

  it('is checked only after the scopes of the caller', async () => {
    expect((await fetch(`${api.url}/things?x=1`)).status).toBe(401);
    expect((await call('/things?x=1', {}, { scope: 'other' })).status).toBe(403);
    expect((await call('/things?x=1', { method: 'PATCH' })).status).toBe(405);
  });

  it('is checked before the body', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await call('/things?x=1', { method: 'POST', body: '{', headers });
    expect(await problemOf(response)).toMatchObject({ violations: [{ property: 'x' }] });
  });
});

describe('an error', () => {
  it('that an operation throws becomes a problem with its members and headers', async () => {
    const response = await call('/things/1', { method: 'DELETE', headers: { 'x-request-id': 'abc' } });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await problemOf(response)).toEqual({
      ...{ type: 'urn:webhooks:problem:unavailable', title: 'The service cannot do this now', status: 503 },
      ...{ detail: 'not now', instance: '/things/1', code: 'unavailable', correlationId: 'abc' },
      ...{ violations: [], ref: 'x' },
    });
  });

  it('that is unexpected shows no details, and is logged with its cause', async () => {
    const response = await call('/things/bug', { method: 'DELETE' });
    const problem = await problemOf(response);
    expect([response.status, problem['code']]).toEqual([500, 'internal-error']);
    expect(JSON.stringify(problem)).not.toMatch(/mongodb|TypeError|at /);
    const line = api.lines.find(
      ({ message, fields }) => message === 'requests failed' && fields['code'] === 'internal-error',
    );
    expect(line?.fields['error']).toContain('TypeError');
  });

  it.each(['PUT', 'PATCH', 'OPTIONS'])('is 405 with Allow for %s', async (method) => {
    const response = await call('/things', { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  it.each(['/', '/nothing', '/things/a/b', '/Things', '/things/%zz'])('is 404 for %s', async (path) => {
    expect((await call(path)).status).toBe(404);
  });
});

describe('the metrics', () => {
  it('counts requests by operation and status', async () => {
    await call('/things/count-me');
    await eventually(async () => {
      expect(await api.registry.metrics()).toMatch(
        /http_requests_total\{operation="GET \/things\/:id",status="200"\} \d/,
      );
    });
  });
});
