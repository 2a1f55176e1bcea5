import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { SettingsReader } from '@webhooks/runtime';
import { eventually } from '@webhooks/testkit';
import { listen, readListenSettings } from '../../src/server/listen.js';
import type { HttpServer } from '../../src/server/listen.js';

const HOST = '127.0.0.1';
const settings = (env: Readonly<Record<string, string>> = {}) =>
  readListenSettings(new SettingsReader({ HOST, ...env }), 0);
let server: HttpServer;
/** Ends the response of the last request to /slow. */
let finish: (() => void) | undefined;

beforeEach(async () => {
  finish = undefined;
  server = await listen(({ url }, response) => {
    if (url === '/begun') response.write('begun ');
    if (url === '/') response.end('done');
    else finish = () => response.end('done');
  }, settings());
});
afterEach(() => server.close(0));

/** What comes back for these bytes until the server closes the connection. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = '';
    const socket = connect(server.port, HOST, () => socket.write(bytes));
    socket.setEncoding('latin1').on('data', (text: string) => (response += text));
    socket.once('error', reject).once('close', () => resolve(response));
  });
}

/** The same, whether the server ends the connection or breaks it. */
function flooded(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, HOST, () => socket.write(bytes));
    socket.on('error', () => undefined);
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.once('close', () => resolve(text));
  });
}

const get = (path: string): Promise<string> => raw(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
const inFlight = (): Promise<() => void> => eventually(() => finish ?? false);

describe('the transport', () => {
  it('refuses headers over 16 KiB with 431 and what is no HTTP with 400', async () => {
    const long = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`;
    expect(await raw(long)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await raw('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('keeps an idle connection for the configured time', async () => {
    const own = await listen(
      (_request, response) => response.end('done'),
      settings({ KEEP_ALIVE_MS: '200' }),
    );
    const begunAt = performance.now();
    expect(await flooded(own.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/ 200 OK[^]*done$/);
    expect(performance.now() - begunAt).toBeGreaterThan(190);
    await own.close(0);
  }, 20_000);

  it('breaks a connection that becomes nonsense, and sends no 400 for its earlier requests', async () => {
    const response = new Promise<string>((resolve) => {
      const socket = connect(server.port, HOST, () => socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'));
      inFlight().then(
        () => socket.write('NONSENSE\r\n\r\n'),
        () => socket.destroy(),
      );
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      socket.on('error', () => undefined).once('close', () => resolve(text));
    });
    expect(await response).toBe('');
    expect(await raw('POST /slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n')).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });

  it('refuses a request with two lengths', async () => {
    const smuggled =
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await raw(smuggled)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('cannot listen on a port that is taken', async () => {
    await expect(listen(() => undefined, settings({ PORT: String(server.port) }))).rejects.toThrow(
      'EADDRINUSE',
    );
  });
});

describe('closing', () => {
  it('lets a response in flight finish, and ends its connection with it', async () => {
    const response = get('/slow');
    const done = await inFlight();
    const closed = server.close(5_000);
    await expect(get('/')).rejects.toThrow('ECONNREFUSED');
    done();
    expect(await response).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close[^]*done/i);
    await closed;
  });

  it('ends the connection of a response that had begun as soon as it is finished', async () => {
    const response = get('/begun');
    const done = await inFlight();
    const begun = performance.now();
    const closed = server.close(5_000);
    done();
    expect(await response).toContain('done');
    await closed;
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('ends idle connections at once', async () => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`http://${HOST}:${server.port}/`, { headers: { connection: 'keep-alive' } }, resolve)
        .once('error', reject)
        .end();
    });
    response.resume();
    const begun = performance.now();
    await server.close(5_000);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('cuts what is not finished after the grace', async () => {
    const response = get('/slow');
    await inFlight();
    await server.close(50);
    expect(await response).toBe('');
  });
});

describe('connections', () => {
  const bounded = (env: Readonly<Record<string, string>>): Promise<HttpServer> =>
    listen((_request, response) => response.end('done'), settings(env));
  /** Open connections that the server has not closed at once. */
  async function openConnections(port: number, count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () => connect(port, HOST).on('error', () => undefined));
    // Each has its response, or was closed.
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket.once('data', resolve).once('close', resolve);
            socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
          }),
      ),
    );
    return sockets.filter((socket) => !socket.destroyed);
  }

  it.each([
    ['of one address have a bound', { MAX_CONNECTIONS_PER_ADDRESS: '3' }, 3],
    ['in all have a bound', { MAX_CONNECTIONS: '2' }, 2],
    [
      'of a proxy have only the bound of all',
      { MAX_CONNECTIONS_PER_ADDRESS: '1', PROXY_CIDRS: '127.0.0.0/8' },
      5,
    ],
  ])('%s', async (_what, env, expected) => {
    const own = await bounded(env);
    const open = await openConnections(own.port, 5);
    expect(open).toHaveLength(expected);
    for (const socket of open) socket.destroy();
    await eventually(async () => (await openConnections(own.port, 1)).length === 1);
    await own.close(0);
  });

  it.each(['10.0.0.0/', '10.0.0.0/8/9', '10.0.0.0/x', '10.0.0/8', 'proxy'])(
    'keep their bound when a block of the proxies is mistyped: %s',
    (text) => {
      const reader = new SettingsReader({ PROXY_CIDRS: text });
      readListenSettings(reader, 0);
      expect(reader.faults).toEqual([expect.stringMatching(/^PROXY_CIDRS: /)]);
    },
  );

  it.each([
    ['sixteen requests ahead of their answers is served', 16, 16],
    ['more than sixteen is closed', 5_000, 0],
  ])('with %s', async (_what, sent, served) => {
    const own = await listen((_request, response) => setImmediate(() => response.end('done')), settings());
    const requests = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(sent - 1);
    const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = await flooded(own.port, requests + last);
    expect(answers.split('200 OK').length - 1).toBe(served);
    await own.close(0);
  });

  it('that pipeline make the parser read little of what they sent', async () => {
    let made = 0;
    const count = (): void => void (made += 1);
    subscribe('http.server.request.start', count);
    await flooded(server.port, 'GET /held HTTP/1.1\r\nHost:\r\n\r\n'.repeat(2_500));
    unsubscribe('http.server.request.start', count);
    expect(made).toBeGreaterThan(16);
    expect(made).toBeLessThan(200);
  });

  it('that expect something unknown are served within the same bound', async () => {
    const answers = await flooded(server.port, 'GET / HTTP/1.1\r\nHost:\r\nExpect: x\r\n\r\n'.repeat(2_500));
    expect(answers).not.toContain(' 417 ');
    expect(answers.split('200 OK').length - 1).toBeLessThanOrEqual(16);
  });

  it('whose headers do not come end a second after their deadline at the latest', async () => {
    const own = await bounded({});
    const begun = performance.now();
    await new Promise((resolve) => {
      const socket = connect(own.port, HOST, () => socket.write('GET / HTTP/1.1\r\n'));
      socket
        .on('error', () => undefined)
        .once('close', resolve)
        .resume();
    });
    expect(performance.now() - begun).toBeLessThan(12_500);
    await own.close(0);
  }, 20_000);
});
