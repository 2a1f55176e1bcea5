import { once } from 'node:events';
import { Agent, createServer } from 'node:https';
import type { Server } from 'node:https';
import { createServer as createPlainServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { loadCertificateMaker } from '@webhooks/local';
import { ConnectionError, createClient } from '../../src/index.js';
import type { Client, ClientOptions } from '../../src/index.js';
import { startForwardProxy } from '../support/forward-proxy.js';
import { LIST, ScriptedService } from '../support/scripted-service.js';

const BASIC = `Basic ${Buffer.from('user:pass').toString('base64')}`;
const TUNNEL = `CONNECT api.test:443 ${BASIC}`;
const TOKEN = 'POST http://issuer.test/token';

let service: ScriptedService;
let demanding: Server;
let proxy: Awaited<ReturnType<typeof startForwardProxy>>;
let tls: Readonly<Record<'ca' | 'cert' | 'key', string>>;
let environment: NodeJS.ProcessEnv;

/** A server for `api.test` that demands a certificate of the same authority, and tells whose it was. */
async function startDemanding(): Promise<Server> {
  const { makeAuthority, makeLeaf } = await loadCertificateMaker();
  const now = Date.now();
  const validity = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 86_400_000) };
  const authority = await makeAuthority('Authority of a test', validity);
  const [own, client] = await Promise.all(
    ['api.test', 'shop'].map((host) => makeLeaf([host], { ...validity, authority })),
  );
  const ca = authority.certPem;
  tls = { ca, cert: client?.certPem ?? '', key: client?.keyPem ?? '' };
  const options = { ca, cert: own?.certPem, key: own?.keyPem, requestCert: true };
  const server = createServer(options, (request, response) => {
    const names = (request.socket as TLSSocket).getPeerCertificate().subjectaltname;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...LIST, names }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  service = await ScriptedService.open();
  demanding = await startDemanding();
  const port = Number(new URL(service.url).port);
  proxy = await startForwardProxy({ port, tlsPort: (demanding.address() as AddressInfo).port });
});
afterAll(async () => {
  proxy.close();
  demanding.closeAllConnections();
  demanding.close();
  await service.close();
});
beforeEach(() => {
  proxy.seen.length = 0;
  environment = { ...process.env };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'])
    Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
});
afterEach(() => (process.env = environment));

const client = (over: Partial<ClientOptions> = {}): Client =>
  createClient({
    ...{ baseUrl: 'https://api.test', maxRetries: 0, timeoutMs: 5_000 },
    credentials: { tokenEndpoint: 'http://issuer.test/token', clientId: 'a', clientSecret: 'b' },
    ...over,
  });
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (fault: unknown) => fault,
  );

describe('in Node, a client', () => {
  it('goes through the proxies of the environment, with its own authority and certificate', async () => {
    const httpsAgent = new Agent({ ...tls, proxyEnv: process.env });
    expect(await client({ httpsAgent }).list()).toEqual({ ...LIST, names: 'DNS:shop' });
    expect(proxy.seen).toEqual([TOKEN, TUNNEL]);
    expect(service.requests.at(-1)?.line).toBe('POST /token');
  });

  it('goes through the proxy without an agent, too, and trusts only the authorities of Node', async () => {
    const error = await faultOf(client().list());
    expect(error).toMatchObject({ code: 'SELF_SIGNED_CERT_IN_CHAIN', origin: 'https://api.test' });
    expect(proxy.seen).toEqual([TOKEN, TUNNEL]);
  });

  it('names the proxy that refuses it, and no password', async () => {
    proxy.state.refuse = true;
    const error = await faultOf(client().list());
    proxy.state.refuse = false;
    expect(error).toMatchObject({ code: 'ERR_PROXY_TUNNEL', origin: 'https://api.test' });
    expect(inspect(error)).toMatch(/via http:\/\/127\.0\.0\.1:\d+\/: HTTP\/1\.1 407/);
    for (const word of ['user:pass', BASIC]) expect(inspect(error)).not.toContain(word);
  });

  it('takes a proxy without a scheme as an HTTP proxy', async () => {
    process.env['HTTP_PROXY'] = proxy.url.replace('http://', '');
    await client().token();
    expect(proxy.seen).toEqual([TOKEN]);
  });

  it.each(['socks5://127.0.0.1:1', 'http://user:pass@:99999'])(
    'refuses the proxy %s, and tells no password',
    (url) => {
      process.env['HTTPS_PROXY'] = url;
      expect(() => client()).toThrow(/^HTTPS_PROXY must be an address such as http:\/\/proxy:3128$/);
    },
  );

  it('ends in time when a proxy stays silent', async () => {
    proxy.state.isSilent = true;
    const error = await faultOf(client({ timeoutMs: 300 }).list());
    proxy.state.isSilent = false;
    expect(error).toMatchObject({ code: 'ECONNABORTED', origin: 'https://api.test' });
  });

  it('ends when the service upgrades the connection', async () => {
    const upgrading = createPlainServer().listen(0, '127.0.0.1');
    upgrading.on('connection', (socket) =>
      socket.write('HTTP/1.1 101 Up\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    await once(upgrading, 'listening');
    const { port } = upgrading.address() as AddressInfo;
    const error = await faultOf(client({ baseUrl: `http://127.0.0.1:${port}` }).list());
    upgrading.close();
    expect(error).toMatchObject({ name: 'ConnectionError', cause: { message: 'closed before a response' } });
  });

  it.each(['NO_PROXY', 'no_proxy'])('asks no proxy for a host of %s', async (name) => {
    process.env[name] = 'other.test,.issuer.test,issuer.test';
    expect(await faultOf(client().list())).toBeInstanceOf(ConnectionError);
    expect(proxy.seen).toEqual([]);
  });

  it('asks no proxy for a loopback address', async () => {
    const credentials = { tokenEndpoint: `${service.url}/token`, clientId: 'a', clientSecret: 'b' };
    expect(await client({ baseUrl: service.url, credentials }).list()).toEqual(LIST);
    expect(proxy.seen).toEqual([]);
  });
});
