import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@webhooks/testkit';
import { listen } from '../src/index.js';
import type { HttpServer } from '../src/index.js';

const HOST = '127.0.0.1';
let server: HttpServer;
/** Ends the answer of the last request to /slow. */
let finish: (() => void) | undefined;

beforeEach(async () => {
  finish = undefined;
  server = await listen(
    ({ url }, response) => {
      if (url === '/begun') response.write('begun ');
      if (url === '/') response.end('done');
      else finish = () => response.end('done');
    },
    { port: 0, host: HOST },
  );
});
afterEach(() => server.close(0));

/** What comes back for these bytes until the server closes the connection. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(server.port, HOST, () => socket.write(bytes));
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.once('error', reject).once('close', () => resolve(answer));
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

  it('refuses a request whose length is told twice', async () => {
    const smuggled =
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await raw(smuggled)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('cannot listen on a port that is taken', async () => {
    await expect(listen(() => undefined, { port: server.port, host: HOST })).rejects.toThrow('EADDRINUSE');
  });
});

describe('closing', () => {
  it('lets an answer in flight be finished, and ends its connection with it', async () => {
    const answer = get('/slow');
    const done = await inFlight();
    const closed = server.close(5_000);
    await expect(get('/')).rejects.toThrow('ECONNREFUSED');
    done();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close[^]*done/i);
    await closed;
  });

  it('ends the connection of an answer that had begun as soon as it is finished', async () => {
    const answer = get('/begun');
    const done = await inFlight();
    const begun = performance.now();
    const closed = server.close(5_000);
    done();
    expect(await answer).toContain('done');
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
    const answer = get('/slow');
    await inFlight();
    await server.close(50);
    expect(await answer).toBe('');
  });
});
