import { eventually, TokenDesk } from '@webhooks/testkit';
import { AppError } from '../../src/index.js';
import type { Operation } from '../../src/index.js';
import { openServedApi } from '../support/served-api.js';
import type { ServedApi } from '../support/served-api.js';

let desk: TokenDesk;
let api: ServedApi;

const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/things/:id', scopes: ['thing.read'] },
    handle: ({ params }) => {
      if (params['id'] === 'gone') throw new AppError('not-found', 'there is no such thing');
      const body = params['id'] === 'ready' ? Buffer.from('{"ready": true}') : params;
      return Promise.resolve({ status: 200, body });
    },
  },
  {
    ...{ method: 'POST', path: '/jobs', scopes: ['thing.read'] },
    handle: () => Promise.resolve({ status: 202, body: {} }),
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

async function ask(method: string, path: string, claims = {}) {
  const authorization = `Bearer ${await desk.token({ claims })}`;
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization, 'x-request-id': 'one' },
  });
  // A client closes the connection of a HEAD, whatever the response is.
  const {
    date: _date,
    connection: _,
    'keep-alive': _alive,
    ...headers
  } = Object.fromEntries(response.headers);
  return { status: response.status, headers, text: await response.text() };
}

it.each(['/things/a', '/things/ready', '/things/gone', '/things/a?x=1', '/nothing'])(
  'HEAD of %s gets the response of GET, without a body',
  async (path) => {
    const { text, ...got } = await ask('GET', path);
    expect(got.headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(await ask('HEAD', path)).toEqual({ ...got, text: '' });
  },
);

it('a body that is JSON already is sent as it is', async () => {
  const { headers, text } = await ask('GET', '/things/ready');
  expect([headers['content-type'], text]).toEqual(['application/json; charset=utf-8', '{"ready": true}']);
});

it('HEAD needs what GET needs', async () => {
  expect((await fetch(`${api.url}/things/a`, { method: 'HEAD' })).status).toBe(401);
  expect((await ask('HEAD', '/things/a', { scope: 'other' })).status).toBe(403);
});

it('HEAD is 405 where there is no GET', async () => {
  expect(await ask('HEAD', '/jobs')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
});

it('HEAD is counted as the GET that serves it', async () => {
  // Of these tests only a HEAD had no token.
  await eventually(async () => {
    const requests = await api.registry.getSingleMetricAsString('http_requests_total');
    expect(requests).toContain('{operation="GET /things/:id",status="401"} 1');
  });
});
