import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { freePort } from '@webhooks/local';
import { eventually } from '@webhooks/testkit';
import { openTcpProxy } from '../../../src/chaos/world/tcp-proxy.js';
import type { TcpProxy } from '../../../src/chaos/world/tcp-proxy.js';

/** Answers with what it gets. */
const echo: Server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
});
let proxy: TcpProxy;
const clients: Socket[] = [];

beforeAll(async () => {
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
});
beforeEach(async () => {
  proxy = await openTcpProxy(await freePort());
  proxy.forwardTo((echo.address() as AddressInfo).port);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
});
afterAll(() => {
  echo.close();
});

interface Caller {
  readonly socket: Socket;
  text: string;
  fault: string;
  ended: boolean;
}

function call(): Caller {
  const socket = connect({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true });
  clients.push(socket);
  const caller: Caller = { socket, text: '', fault: '', ended: false };
  socket.on('data', (data) => (caller.text += String(data)));
  socket.on('end', () => (caller.ended = true));
  socket.on('error', (error) => (caller.fault = 'code' in error ? String(error.code) : error.message));
  return caller;
}

const hears = (caller: Caller, text: string): Promise<unknown> =>
  eventually(() => expect(caller.text).toBe(text), { timeoutMs: 5_000, intervalMs: 2 });

it('an open link passes bytes both ways, ends one way at a time, and forgets ended connections', async () => {
  const caller = call();
  caller.socket.end('one two');
  await eventually(() => expect(caller).toMatchObject({ text: 'one two', ended: true }));
  await eventually(() => expect(proxy.openSockets()).toBe(0));
});

it('an open link passes megabytes unchanged', async () => {
  const caller = call();
  const text = 'abcdefgh'.repeat(500_000);
  caller.socket.end(text);
  await eventually(() => expect(caller.text.length).toBe(text.length));
  expect(caller.text).toBe(text);
});

it('cut: open and new connections are reset until the link is open again', async () => {
  const before = call();
  before.socket.write('a');
  await hears(before, 'a');
  proxy.become('cut');
  const meanwhile = call();
  await eventually(() => expect([before.fault, meanwhile.fault]).toEqual(['ECONNRESET', 'ECONNRESET']));
  proxy.become('open');
  const after = call();
  after.socket.write('b');
  await hears(after, 'b');
});

it('half-open: nothing comes through and nobody notices, until it ends with a reset', async () => {
  const before = call();
  before.socket.write('a');
  await hears(before, 'a');
  proxy.become('half-open');
  const meanwhile = call();
  before.socket.write('b');
  meanwhile.socket.write('c');
  await eventually(() => expect(proxy.openSockets()).toBe(4));
  expect([before, meanwhile].map(({ text, fault }) => text + fault)).toEqual(['a', '']);
  proxy.become('open');
  await eventually(() => expect([before.fault, meanwhile.fault]).toEqual(['ECONNRESET', 'ECONNRESET']));
  expect([before.text, meanwhile.text]).toEqual(['a', '']);
});
