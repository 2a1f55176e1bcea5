import fc from 'fast-check';
import { AnswerReader } from '../src/answer-reader.js';
import { SendFailure } from '../src/send-failure.js';

const HEAD_LIMIT = 1_024;

interface Reading {
  readonly status?: number;
  readonly fault?: string;
  readonly whole: boolean;
  readonly surplus: boolean;
  readonly bodyBytes: number;
  readonly persistent?: boolean;
}

function faultOf(error: unknown): string {
  if (!(error instanceof SendFailure)) throw error;
  expect(error.errorClass).toBe('PROTOCOL');
  return error.reasonCode;
}

/** What a reader says of these pieces of one answer; a fault ends it. */
function read(pieces: readonly Buffer[], reader = new AnswerReader(HEAD_LIMIT)): Reading {
  reader.begin();
  let fault: string | undefined;
  for (const piece of pieces) {
    if (fault !== undefined) break;
    try {
      reader.read(piece);
    } catch (error) {
      fault = faultOf(error);
    }
  }
  const { head, whole, surplus, bodyBytes } = reader;
  return {
    whole,
    surplus,
    bodyBytes,
    ...(fault === undefined ? {} : { fault }),
    ...(head === undefined ? {} : { status: head.status, persistent: head.persistent }),
  };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const readText = (text: string): Reading => read([bytesOf(text)]);

describe('a head', () => {
  it.each<[string, string]>([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['another protocol without an end', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['lower case', 'http/1.1 200 OK\r\n\r\n'],
    ['two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['two spaces', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['a line feed alone', 'HTTP/1.1 200 OK\nx-a: b\r\n\r\n'],
    ['line feeds alone, that never have the end of a head', 'HTTP/1.1 200 OK\nx-a: b\n\n'],
    ['a carriage return alone', 'HTTP/1.1 200 OK\r\nx-a: b\rc\r\n\r\n'],
    ['a folded value', 'HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\n\r\n'],
    ['a name with a space', 'HTTP/1.1 200 OK\r\nx a: b\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n'],
    ['no colon', 'HTTP/1.1 200 OK\r\nx-a\r\n\r\n'],
    ['no name', 'HTTP/1.1 200 OK\r\n: b\r\n\r\n'],
    ['a NUL', 'HTTP/1.1 200 OK\r\nx-a: b\0\r\n\r\n'],
  ])('with %s is no HTTP', (_, text) => {
    expect(readText(text)).toMatchObject({ fault: 'NOT_HTTP' });
  });

  it.each<[string, string]>([
    ['a sign', '+5'],
    ['a negative number', '-5'],
    ['hexadecimal', '0x5'],
    ['nothing', ''],
    ['a list', '5, 5'],
    ['a no-break space', '5\xa0'],
    ['too many digits', '1'.repeat(16)],
    ['two lines', '5\r\ncontent-length: 5'],
  ])('with a length of %s is refused', (_, length) => {
    const text = `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\nhello`;
    expect(readText(text)).toMatchObject({ fault: 'BAD_LENGTH' });
  });

  it('with a length beside a coding is refused, also where there is no body', () => {
    for (const status of [200, 204]) {
      const text = `HTTP/1.1 ${status} X\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n`;
      expect(readText(text)).toMatchObject({ fault: 'LENGTH_AND_CODING' });
    }
  });

  it('may be as long as the limit, with its end, and no longer', () => {
    const text = (bytes: number) => {
      const frame = 'HTTP/1.1 204 X\r\nx-a: \r\n\r\n';
      return frame.replace('x-a: ', `x-a: ${'b'.repeat(bytes - frame.length)}`);
    };
    const pieces = (bytes: number) => Array.from(bytesOf(text(bytes)), (byte) => Buffer.of(byte));
    for (const given of [[bytesOf(text(HEAD_LIMIT))], pieces(HEAD_LIMIT)]) {
      expect(read(given)).toMatchObject({ status: 204, whole: true });
    }
    for (const given of [[bytesOf(text(HEAD_LIMIT + 1))], pieces(HEAD_LIMIT + 1)]) {
      expect(read(given)).toMatchObject({ fault: 'HEADERS_TOO_LONG' });
    }
  });

  it.each<[string, boolean]>([
    ['HTTP/1.1 200 OK\r\n', true],
    ['HTTP/1.1 200 OK\r\nConnection: Close\r\n', false],
    ['HTTP/1.1 200 OK\r\nconnection: x, close\r\n', false],
    ['HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nconnection: close\r\n', false],
    ['HTTP/1.1 200 OK\r\nx-connection: close\r\n', true],
    ['HTTP/1.0 200 OK\r\n', false],
    ['HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n', true],
    ['HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\n', false],
    ['HTTP/1.1 200 OK\r\nConnection: close\xa0\r\n', true],
  ])('%j keeps its connection: %s', (head, persistent) => {
    expect(readText(`${head}content-length: 0\r\n\r\n`)).toMatchObject({ whole: true, persistent });
  });

  it('without a length ends with the connection', () => {
    for (const field of ['', 'transfer-encoding: gzip\r\n', 'transfer-encoding: chunked, gzip\r\n']) {
      const reader = new AnswerReader(HEAD_LIMIT);
      const text = `HTTP/1.1 200 OK\r\n${field}\r\nhello`;
      expect(read([bytesOf(text)], reader)).toMatchObject({ whole: false, persistent: false, bodyBytes: 5 });
      expect(reader.endsWithConnection).toBe(true);
    }
  });
});

describe('a body in chunks', () => {
  const chunked = (body: string): Reading =>
    readText(`HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, Chunked\r\n\r\n${body}`);

  it.each<[string, string]>([
    ['one chunk', '5\r\nhello\r\n0\r\n\r\n'],
    ['upper case, zeros and spaces', '00A \r\nhellohello\r\n000\r\n\r\n'],
    ['extensions and trailers', '5;a=b;c="d"\r\nhello\r\n0;x\r\nx-a: b\r\nx-c:\r\n\r\n'],
    ['line ends as data', '4\r\n\r\n\r\n\r\n0\r\n\r\n'],
  ])('of %s has an end', (_, body) => {
    expect(chunked(body)).toMatchObject({ whole: true, surplus: false });
    expect(chunked(`${body}x`)).toMatchObject({ whole: true, surplus: true });
    expect(chunked(body.slice(0, -1))).toMatchObject({ whole: false });
  });

  it.each<[string, string]>([
    ['no size', '\r\nhello'],
    ['a size that is none', 'g\r\n'],
    ['a sign', '-5\r\nhello'],
    ['nine digits', '000000005\r\nhello'],
    ['a line feed alone', '5\nhello\n'],
    ['more data than its size', '5\r\nhelloX\r\n'],
    ['less data than its size', '5\r\nhell\r\n0\r\n\r\n'],
    ['a trailer without a name', '0\r\nnothing\r\n\r\n'],
    ['an extension without end', `5;${'a'.repeat(16_400)}`],
  ])('with %s is broken, and its status counts', (_, body) => {
    expect(chunked(body)).toMatchObject({ status: 200, fault: 'BAD_CHUNK', whole: false });
  });

  it('is measured by its framing when that is more', () => {
    const tiny = '1\r\na\r\n'.repeat(100);
    expect(chunked(tiny).bodyBytes).toBe(500);
    expect(chunked(`64\r\n${'a'.repeat(100)}\r\n`).bodyBytes).toBe(100);
  });
});

it('reads one answer after the other', () => {
  const reader = new AnswerReader(HEAD_LIMIT);
  expect(
    read(
      [bytesOf('HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')],
      reader,
    ),
  ).toMatchObject({ status: 200, whole: true, surplus: false, bodyBytes: 2 });
  expect(
    read([bytesOf('HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n')], reader),
  ).toMatchObject({ status: 500, whole: true });
  expect(read([bytesOf('HTTP/1.1 204 X\r\n\r\n')], reader)).toMatchObject({
    status: 204,
    whole: true,
    bodyBytes: 0,
  });
});

it('reads the same however the bytes are cut', () => {
  const answers = fc.constantFrom(
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
    'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhel\r\n\r\n0\r\nx: y\r\n\r\n',
    'HTTP/1.1 204 X\r\n\r\nHTTP/1.1 200 X\r\n\r\n',
    'HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nhello more',
    'HTTP/1.0 200 OK\r\nconnection: close\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n',
    'HTTP/1.1 200 OK\nno\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhelloX',
  );
  fc.assert(
    fc.property(answers, fc.array(fc.nat(120), { maxLength: 12 }), (answer, cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), answer.length];
      const pieces = places.slice(1).map((end, index) => bytesOf(answer.slice(places[index], end)));
      expect(read(pieces)).toEqual(readText(answer));
    }),
    { numRuns: 2_000 },
  );
});
