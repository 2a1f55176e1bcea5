import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Registry, SettingsReader } from '@webhooks/runtime';
import { AppError, readListenSettings } from '../../src/index.js';
import { createApi } from '../../src/server/create-api.js';
import { listen } from '../../src/server/listen.js';
import type { HttpServer } from '../../src/server/listen.js';

const silent = () => undefined;
let server: HttpServer;

beforeAll(async () => {
  const app = createApi({
    operations: [
      { method: 'GET', path: '/things', scopes: ['thing.read'], handle: () => Promise.reject(new Error()) },
    ],
    verifier: {
      verify: () => Promise.reject(new AppError('invalid-token', 'an access token is required')),
      isReady: () => true,
      keysAgeMs: () => 0,
      close: silent,
    },
    tenantOf: () => undefined,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    registry: new Registry(),
    closing: new AbortController().signal,
    limits: {
      maxOpenBodyBytes: 1_024,
      maxOpenRequests: 8,
      tenantRequests: { perSecond: 0, burst: 0 },
    },
  });
  server = await listen(app, readListenSettings(new SettingsReader({ HOST: '127.0.0.1' }), 0));
});
afterAll(() => server.close(1_000));

/** The target as it is: `fetch` would mend it. */
async function get(target: string): Promise<{ status: number; type: string; body: unknown }> {
  const asked = request({ port: server.port, host: '127.0.0.1', path: target, agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const body: unknown = JSON.parse(await text(response));
  return { status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body };
}

describe('a request target', () => {
  it.each([
    'http://',
    'http:///',
    'http://[::1',
    'http://a:999999/things',
    // As a host name it would be encoded (IDNA) for 10 ms.
    `http://${'%E4%B8%80'.repeat(1_700)}/things`,
    'http://%/things',
    'https://user:pass@evil.example:0/other?x=1',
    'file:///etc/passwd',
    '*',
    '//a@b/things#',
    '//a@b:99999999/',
    '/things#',
  ])('%s that leads nowhere is a problem like any other', async (target) => {
    const { status, type, body } = await get(target);
    expect(status).toBe(404);
    expect(type).toMatch('application/problem+json');
    expect(body).toMatchObject({ code: 'not-found' });
    expect(body).toHaveProperty('correlationId');
  });

  it.each([
    '/things',
    '/things?x=http://y',
    'http://proxy.example/things',
    'HTTPS://proxy.example:8443/things?x=1',
  ])('%s is the same in origin form and in absolute form (RFC 9112 §3.2.2)', async (target) => {
    expect(await get(target)).toMatchObject({ status: 401, body: { instance: '/things' } });
  });
});
