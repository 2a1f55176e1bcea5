import fc from 'fast-check';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import { AnswerReader } from '../src/answer-reader.js';

/*
 * Our reader against undici's (llhttp): whatever an endpoint sends and then closes, both must find the same status, or none,
 * and agree whether the answer came whole. Left out is where ours is known to be stricter (an empty line before the status
 * line, versions but 1.0 and 1.1) or more lenient (spaces behind the size of a chunk, which old servers send; an unasked 100), and where undici
 * fails by an assertion (a status below 100, 101).
 */

type Verdict = { readonly status: number; readonly cut: boolean } | 'no answer';

const HEAD_LIMIT = 16_384;

class Judge implements Dispatcher.DispatchHandler {
  readonly verdict = Promise.withResolvers<Verdict>();
  #status = 0;

  onRequestStart(): void {
    // Required by undici; there is nothing to prepare.
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(): void {
    // The body is not used.
  }

  onResponseEnd(): void {
    this.verdict.resolve({ status: this.#status, cut: false });
  }

  onResponseError(): void {
    this.verdict.resolve(this.#status === 0 ? 'no answer' : { status: this.#status, cut: true });
  }
}

let answer: Buffer = Buffer.alloc(0);
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function undicis(bytes: Buffer): Promise<Verdict> {
  answer = bytes;
  const client = new Client(origin, { pipelining: 1, maxHeaderSize: HEAD_LIMIT });
  const judge = new Judge();
  client.dispatch({ method: 'POST', path: '/', body: 'x' }, judge);
  try {
    return await judge.verdict.promise;
  } finally {
    await client.destroy();
  }
}

function ours(bytes: Buffer): Verdict {
  const reader = new AnswerReader(HEAD_LIMIT);
  let faulty = false;
  try {
    reader.read(bytes);
  } catch {
    faulty = true;
  }
  const { head, whole, endsWithConnection } = reader;
  if (head === undefined) return 'no answer';
  return { status: head.status, cut: faulty || !(whole || endsWithConnection) };
}

const often = <T>(usual: readonly T[], rare: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );

const statusLine = often(
  ['HTTP/1.1 200 OK', 'HTTP/1.1 204 No Content', 'HTTP/1.1 500 Oops', 'HTTP/1.0 200 OK', 'HTTP/1.1 304 X'],
  ['HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1 103 Early', 'HTTP/1.1 20 OK'].concat(
    ['HTTP/1.1 2000 OK', 'HTTP/1.1  200 OK', 'http/1.1 200 OK', 'HTTP/1.1 200 é', 'HTTP/1.1 600 X', ''],
    ['ICY 200 OK', 'HTTP/1.1\t200 OK', 'HTTP/1.1 200\tOK', 'HTTP/1.1 200OK', 'HTTP/1.1 -20 OK'],
  ),
);
const field = often(
  [
    'Content-Length: 5',
    'content-length:5',
    'Transfer-Encoding: chunked',
    'Connection: close',
    'X-A: b',
    'Date: x',
  ],
  [
    'Content-Length: 0',
    'Content-Length: 7',
    'Content-Length: -1',
    'Content-Length: 5, 5',
    'Content-Length:',
  ].concat(
    [
      'Content-Length: +5',
      'Content-Length: 0x5',
      'Content-Length: 99999999999999999999',
      'Content-Length : 5',
    ],
    ['Transfer-Encoding: gzip', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip'],
    ['Transfer-Encoding: Chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding : chunked', 'X-A: ÿ'],
    [
      ' folded',
      '\tfolded',
      'no colon',
      ': empty',
      'X A: b',
      'X-A: b\0c',
      'X-A: b\rc',
      'X-A: b\nY: c',
      'X-é: y',
    ],
    ['Connection: Close', 'Connection: upgrade', 'Upgrade: h2c', 'Keep-Alive: timeout=5', 'Trailer: X'],
  ),
);
const lineEnd = fc.oneof(
  { weight: 60, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\n\r', '\r\r\n') },
);
const body = often(
  ['', 'hello', '5\r\nhello\r\n0\r\n\r\n', '5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n'],
  ['hell', 'hello!!', '5\r\nhello\r\n', '5\nhello\n0\n\n', '0\r\n\r\n', 'g\r\n'].concat(
    [
      '0005\r\nhello\r\n0\r\n\r\n',
      '5\r\nhelloX\r\n0\r\n\r\n',
      '-5\r\nhello\r\n0\r\n\r\n',
      'FFFFFFFFFF\r\nhello',
    ],
    [
      '5\r\nhello\r\n0\r\nbad trailer\r\n\r\n',
      '\r\n5\r\nhello\r\n0\r\n\r\n',
      '5;a="b c"\r\nhello\r\n0\r\n\r\n',
    ],
  ),
);
const answers = fc
  .tuple(
    fc.constantFrom('', '', 'HTTP/1.1 103 E\r\nLink: x\r\n\r\n', 'HTTP/1.1 102 P\r\n\r\n'),
    statusLine,
    fc.array(fc.tuple(field, lineEnd), { maxLength: 4 }),
    lineEnd,
    lineEnd,
    body,
  )
  .map(([early, first, fields, end, last, rest]) =>
    Buffer.from([early, first, end, ...fields.flat(), last, rest].join(''), 'latin1'),
  );

it('agrees with undici', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(answers, async (bytes) => {
      const verdict = ours(bytes);
      if (verdict !== 'no answer') answered += 1;
      expect(verdict).toEqual(await undicis(bytes));
    }),
    { numRuns: Number(process.env['ANSWERS'] ?? 1_500) },
  );
  expect(answered).toBeGreaterThan(0);
});
