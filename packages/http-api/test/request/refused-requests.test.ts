import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { TokenDesk } from '@webhooks/testkit';
import type { Operation } from '../../src/index.js';
import { openServedApi } from '../support/served-api.js';
import type { ServedApi } from '../support/served-api.js';

const OPERATIONS: readonly Operation[] = [
  { method: 'GET', path: '/things', scopes: ['thing.read'], handle: () => Promise.resolve({ status: 200 }) },
  { method: 'POST', path: '/go', scopes: ['thing.read'], handle: () => Promise.resolve({ status: 202 }) },
];

let desk: TokenDesk;
let api: ServedApi;
beforeAll(async () => {
  desk = await TokenDesk.open();
  api = await openServedApi(desk, OPERATIONS, {});
});
afterAll(async () => {
  await api.close();
  await desk.close();
});

const call = async (path: string): Promise<Response> =>
  fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${await desk.token()}` } });

describe('a refused request', () => {
  it.each(['/nothing', '/things?unknown=1'])(
    'without a body leaves its connection open: %s',
    async (path) => {
      const { status, headers } = await call(path);
      expect(status).toBeGreaterThan(400);
      expect(headers.get('connection')).toBe('keep-alive');
    },
  );

  it('a GET with a body that does not end gets its response, and then its connection is closed', async () => {
    const headers = { authorization: `Bearer ${await desk.token()}`, 'transfer-encoding': 'chunked' };
    const sent = request({ host: '127.0.0.1', port: api.port, path: '/things', agent: false, headers });
    sent.write('x');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    response.resume();
    await once(sent, 'close');
  });

  it('is one with a body for an operation that takes none', async () => {
    const authorization = `Bearer ${await desk.token()}`;
    const post = async (body?: string): Promise<number> =>
      (
        await fetch(`${api.url}/go`, {
          method: 'POST',
          headers: { authorization },
          ...(body === undefined ? {} : { body }),
        })
      ).status;
    expect([await post(), await post(''), await post('{}')]).toEqual([202, 202, 422]);
  });

  it.each(['Authorization', 'Host', 'Content-Type'])('is one that gives %s twice', async (name) => {
    const status = await new Promise((resolve, reject) => {
      const headers = ['Host', 'x', 'Authorization', 'Bearer a.b.c', 'Content-Type', 'a/b', name, 'second'];
      const given = request({
        host: '127.0.0.1',
        port: api.port,
        path: '/things',
        agent: false,
        setHost: false,
        headers,
      });
      given
        .once('response', (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(422);
  });

  it('writes one log line for each kind of token fault, with the client and the fix when they are known', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const expired = await desk.token({ claims: { exp: now - 60, iat: now - 120 } });
    for (const token of ['a.b.c', expired, expired, 'a.b.c'])
      await fetch(`${api.url}/things`, { headers: { authorization: `Bearer ${token}` } });
    expect(api.lines.map(({ message, fields }) => [message, fields])).toEqual([
      [
        'access tokens are refused',
        {
          fault: 'the access token is refused: it is not one JWT after the word Bearer',
          requests: 1,
        },
      ],
      [
        'access tokens are refused',
        {
          fault: 'the access token is refused: it has expired',
          requests: 1,
          latestClientId: 'client-1',
          advice: expect.stringMatching(
            /^it expired 6\d s ago: if it is new, check this machine's clock$/,
          ) as unknown,
        },
      ],
    ]);
  });

  it('with thousands of parameters names the first twenty', async () => {
    const query = Array.from({ length: 2_000 }, (_, index) => `n${index}`).join('&');
    const response = await call(`/things?${query}`);
    expect(response.status).toBe(422);
    const { detail, violations } = (await response.json()) as { detail: string; violations: unknown[] };
    expect(violations).toHaveLength(20);
    expect(detail).toMatch(/, and 19 more: see violations$/);
  });
});
