import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { eventually, TokenDesk } from '@webhooks/testkit';
import type { Operation } from '../../src/index.js';
import { openServedApi } from '../support/served-api.js';
import type { ServedApi } from '../support/served-api.js';

let desk: TokenDesk;
let api: ServedApi;
/** Ends the handlers that hold their request. */
let finish: (() => void)[];

const MORE_THAN_SOCKETS_HOLD = 32 * 1_048_576;

const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'POST', path: '/quick', scopes: ['thing.write'], maxBodyBytes: 1_000 },
    handle: () => Promise.resolve({ status: 200, body: {} }),
  },
  {
    ...{ method: 'GET', path: '/held', scopes: ['thing.read'] },
    handle: () => new Promise((resolve) => finish.push(() => resolve({ status: 200, body: {} }))),
  },
  {
    ...{ method: 'GET', path: '/large', scopes: ['thing.read'] },
    handle: () => Promise.resolve({ status: 200, body: { large: 'x'.repeat(MORE_THAN_SOCKETS_HOLD) } }),
  },
];

async function serve(env: Readonly<Record<string, string>>): Promise<void> {
  api = await openServedApi(desk, OPERATIONS, env);
}

beforeAll(async () => {
  desk = await TokenDesk.open();
});
afterAll(() => desk.close());
beforeEach(() => {
  finish = [];
});
afterEach(async () => {
  for (const end of finish) end();
  await api.close();
});

async function call(path: string, tenantId: string, init: RequestInit = {}): Promise<Response> {
  const token = await desk.token({ claims: { tenant_id: tenantId } });
  return fetch(`${api.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
}
const post = (tenantId: string): Promise<Response> =>
  call('/quick', tenantId, { method: 'POST', body: '{}' });

/** The response to a POST whose body is never sent. */
async function postHeadOnly(tenantId: string): Promise<IncomingMessage> {
  const authorization = `Bearer ${await desk.token({ claims: { tenant_id: tenantId } })}`;
  const opened = request(`${api.url}/quick`, {
    ...{ method: 'POST', agent: false },
    headers: { authorization, 'content-length': 500 },
  });
  opened.flushHeaders();
  return new Promise((resolve, reject) => {
    opened.once('response', resolve).once('error', reject);
  });
}

const shedBy = async (reason: string): Promise<number> => {
  const metric = await api.registry.getSingleMetricAsString('http_requests_shed_total');
  return Number(new RegExp(`reason="${reason}"\\} (\\d+)`).exec(metric)?.[1] ?? 0);
};

describe('a tenant over its requests a second', () => {
  it('gets 429 with Retry-After before its body is read, and nobody else does', async () => {
    await serve({ TENANT_REQUESTS_PER_SECOND: '1', TENANT_REQUESTS_BURST: '3' });
    const statuses: number[] = [];
    await eventually(async () => {
      const { status } = await post('acme');
      statuses.push(status);
      return status === 429;
    });
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    const refused = await postHeadOnly('acme');
    const { 'retry-after': wait, 'content-type': type } = refused.headers;
    expect([refused.statusCode, wait, type]).toEqual([429, '1', 'application/problem+json; charset=utf-8']);
    refused.destroy();
    expect((await post('globex')).status).toBe(200);
  });

  it('gets a problem that names its limit', async () => {
    await serve({ TENANT_REQUESTS_PER_SECOND: '1', TENANT_REQUESTS_BURST: '1' });
    const both = await Promise.all([post('acme'), post('acme'), post('acme'), post('acme')]);
    const refused = both.find(({ status }) => status === 429);
    expect(await refused?.json()).toMatchObject({
      ...{ type: 'urn:webhooks:problem:too-many-requests', status: 429, code: 'too-many-requests' },
      detail: 'this tenant may send 1 requests a second and 1 at once; send this again in 1 s',
    });
  });

  it('is counted for each refusal, and logged once', async () => {
    await serve({ TENANT_REQUESTS_PER_SECOND: '1', TENANT_REQUESTS_BURST: '1' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('acme')));
    const refused = answers.filter(({ status }) => status === 429).length;
    expect(refused).toBeGreaterThan(10);
    expect(await shedBy('tenant-requests')).toBe(refused);
    expect(api.lines).toEqual([
      {
        level: 'warn',
        message: 'requests are refused',
        fields: { reason: 'tenant-requests', requests: 1, latestTenantId: 'acme' },
      },
    ]);
  });
});

describe('the requests under way', () => {
  it('leave capacity for another tenant, whatever one tenant does', async () => {
    await serve({ MAX_OPEN_REQUESTS: '8' });
    const held = Array.from({ length: 20 }, () => call('/held', 'acme'));
    await eventually(async () => finish.length === 4 && (await shedBy('tenant-share')) === 16);
    expect((await post('globex')).status).toBe(200);
    const over = await post('acme');
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '1']);
    for (const end of finish) end();
    const statuses = (await Promise.all(held)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect((await post('acme')).status).toBe(200);
  });

  it('count until their response is read', async () => {
    await serve({ MAX_OPEN_REQUESTS: '2' });
    const authorization = `Bearer ${await desk.token({ claims: { tenant_id: 'acme' } })}`;
    const unread = connect(Number(new URL(api.url).port), '127.0.0.1').pause();
    unread.write(`GET /large HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
    await eventually(async () => (await post('acme')).status === 429);
    expect((await post('acme')).status).toBe(429);
    unread.destroy();
    await eventually(async () => (await post('acme')).status === 200);
  });

  it('are bounded for all tenants together, without a line for each', async () => {
    await serve({ MAX_OPEN_REQUESTS: '2' });
    const held = [call('/held', 'acme'), call('/held', 'globex')];
    await eventually(() => finish.length === 2);
    const over = await Promise.all([post('other'), post('other')]);
    expect(over.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '1'],
      [429, '1'],
    ]);
    expect(await shedBy('open-requests')).toBe(2);
    expect(api.lines).toMatchObject([
      { message: 'requests are refused', fields: { reason: 'open-requests' } },
    ]);
    for (const end of finish) end();
    await Promise.all(held);
  });
});
