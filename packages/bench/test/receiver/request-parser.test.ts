import { RequestParser } from '../../src/receiver/request-parser.js';
import type { SeenRequest } from '../../src/receiver/request-parser.js';

const post = (path: string, id: string, body: string): Buffer =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nWebhook-Id: ${id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

function parse(chunks: readonly Buffer[]): SeenRequest[] {
  const parser = new RequestParser();
  const seen: SeenRequest[] = [];
  for (const [index, chunk] of chunks.entries())
    parser.push(chunk, index, (request) => seen.push({ ...request }));
  return seen.map(({ path, id, firstByteAt }) => ({ path, id, firstByteAt }));
}

describe('RequestParser', () => {
  it('finds path and id of a request, whatever the case of its header names', () => {
    expect(parse([post('/a', 'evt_1', '{"é":1}')])).toEqual([{ path: '/a', id: 'evt_1', firstByteAt: 0 }]);
  });

  it('takes the time of the first byte when a request comes in pieces, at each possible cut', () => {
    const bytes = post('/a', 'evt_1', '{}');
    for (let cut = 1; cut < bytes.byteLength; cut += 1)
      expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual([
        { path: '/a', id: 'evt_1', firstByteAt: 0 },
      ]);
  });

  it('finds several requests in one piece, and the beginning of the next', () => {
    const [first, second, third] = ['1', '2', '3'].map((id) => post('/a', id, '{"x":1}'));
    const all = Buffer.concat([first, second, third].map((bytes) => bytes ?? Buffer.alloc(0)));
    const cut = all.byteLength - 3;
    expect(parse([all.subarray(0, cut), all.subarray(cut)])).toEqual([
      { path: '/a', id: '1', firstByteAt: 0 },
      { path: '/a', id: '2', firstByteAt: 0 },
      { path: '/a', id: '3', firstByteAt: 0 },
    ]);
  });

  it.each([
    ['another method', 'GET / HTTP/1.1\r\ncontent-length: 0\r\n\r\n'],
    ['no length', 'POST / HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['a body that is too long', 'POST / HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n'],
    ['a head without an end', `POST / HTTP/1.1\r\nx: ${'y'.repeat(70_000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parse([Buffer.from(text)])).toThrow();
  });
});
