import { eventually } from '@webhooks/testkit';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Connection } from '../src/connection.js';
import type { AnswerEnd, ConnectionLimits, Exchange } from '../src/connection.js';
import { Inbox } from '../src/inbox.js';
import { SendFailure } from '../src/send-failure.js';

const LIMITS: ConnectionLimits = {
  keepAliveMs: 60_000,
  keepAliveMaxMs: 60_000,
  headerLimitBytes: 1_024,
  answerLimitBytes: 1_024,
};
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Both ends of one connection; how often ours said that it is gone. */
async function pair(): Promise<{
  connection: Connection;
  socket: Socket;
  endpoint: Socket;
  gone: () => number;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const inbox = new Inbox();
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', onread: inbox.onread });
  const [endpoint] = (await once(server, 'connection')) as [Socket];
  endpoint.on('error', () => undefined);
  closing.push(() => {
    socket.destroy();
    endpoint.destroy();
    server.close();
  });
  let gone = 0;
  const connection = new Connection({ socket, inbox }, LIMITS, () => (gone += 1));
  return { connection, socket, endpoint, gone: () => gone };
}

type End = { status: number; end: AnswerEnd } | Error | 'gone';

/** An exchange, and what became of it: all that was called, so that twice is seen. */
function exchange(body = '', then?: () => void): Exchange & { readonly ends: End[] } {
  const ends: End[] = [];
  const note = (end: End): void => {
    ends.push(end);
    then?.();
  };
  const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`;
  return {
    head,
    body: Buffer.from(body),
    ends,
    onAnswer: ({ status }, end) => note({ status, end }),
    fail: note,
    onGone: () => note('gone'),
  };
}

/** What became of one that was posted there. */
async function endsOf(connection: Connection, one = exchange()): Promise<readonly End[]> {
  connection.post(one);
  await eventually(() => one.ends.length > 0);
  return one.ends;
}

const REUSABLE = { status: 200, end: { cut: false, reusable: true } };

it('carries one exchange after the other', async () => {
  const { connection, endpoint, gone } = await pair();
  endpoint.on('data', () => endpoint.write(OK));
  for (let count = 0; count < 3; count += 1) {
    expect(await endsOf(connection, exchange('hello'))).toEqual([REUSABLE]);
  }
  expect(gone()).toBe(0);
  await connection.close();
  expect(gone()).toBe(1);
});

it('ends when bytes come that nobody asked for, and takes nothing more', async () => {
  const { connection, endpoint, gone } = await pair();
  endpoint.once('data', () => endpoint.write(OK));
  await endsOf(connection);
  endpoint.write(OK);
  await eventually(() => gone() === 1);
  expect(await endsOf(connection)).toEqual(['gone']);
});

/** Holds this process up until what the endpoint wrote has come, so that it is read in the turn of the next post. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
}

it('takes nothing that came before the request for its answer, on a new connection or an idle one', async () => {
  for (const used of [false, true]) {
    const { connection, endpoint, gone } = await pair();
    if (used) {
      endpoint.once('data', () => endpoint.write(OK));
      await endsOf(connection);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise<void>((resolve) => endpoint.write(OK, () => resolve()));
    standStill();
    expect(await endsOf(connection)).toEqual(['gone']);
    expect(gone()).toBe(1);
  }
});

it('gives an exchange back when the endpoint had closed the idle connection', async () => {
  const { connection, endpoint, gone } = await pair();
  await new Promise<void>((resolve) => endpoint.end(() => resolve()));
  standStill();
  expect(await endsOf(connection)).toEqual(['gone']);
  expect(gone()).toBe(1);
});

it('says that it cannot be used again when the endpoint means to close it, and when more came than the answer', async () => {
  for (const answer of [OK.replace('content', 'connection: close\r\ncontent'), `${OK}more`]) {
    const { connection, endpoint } = await pair();
    endpoint.once('data', () => endpoint.write(answer));
    expect(await endsOf(connection)).toEqual([{ status: 200, end: { cut: false, reusable: false } }]);
  }
});

it('writes nothing behind a request that the endpoint answered before it was sent whole', async () => {
  const { connection, endpoint, gone } = await pair();
  const next = exchange();
  const large = exchange('x'.repeat(16_000_000), () => connection.post(next));
  connection.post(large);
  endpoint.once('data', () => {
    endpoint.pause();
    endpoint.write(OK);
  });
  await eventually(() => next.ends.length > 0);
  expect(large.ends).toEqual([REUSABLE]);
  expect(next.ends).toEqual(['gone']);
  expect(gone()).toBe(1);
});

it('gives an exchange back that waits for the end of the turn when the connection ends in it', async () => {
  const { connection, socket, endpoint } = await pair();
  endpoint.once('data', () => endpoint.write(OK));
  const next = exchange();
  const first = exchange('', () => {
    connection.post(next);
    socket.destroy();
  });
  connection.post(first);
  await eventually(() => next.ends.length > 0);
  expect(first.ends).toEqual([REUSABLE]);
  expect(next.ends).toEqual(['gone']);
});

it('is given up with what it carries, written or not, and tells each of it once', async () => {
  const failure = new SendFailure('TIMEOUT', 'DEADLINE');
  const written = await pair();
  const hanging = exchange();
  written.connection.post(hanging);
  written.connection.giveUp(failure);

  const waiting = await pair();
  waiting.endpoint.once('data', () => waiting.endpoint.write(OK));
  const next = exchange();
  const first = exchange('', () => {
    waiting.connection.post(next);
    waiting.connection.giveUp(failure);
  });
  waiting.connection.post(first);
  await eventually(() => waiting.gone() === 1);
  await Promise.all([written, waiting].map(({ connection }) => connection.close()));
  expect(hanging.ends).toEqual([failure]);
  expect(first.ends).toEqual([REUSABLE]);
  expect(next.ends).toEqual([failure]);
});
