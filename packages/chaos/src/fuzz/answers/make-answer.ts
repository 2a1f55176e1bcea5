import { gzipSync } from 'node:zlib';
import type { Random } from '@webhooks/testkit';
import { mutateBytes } from '../mutants/mutate-bytes.js';
import { NASTY_TEXTS } from '../mutants/nasty.js';

/** What a receiver writes on its connection, and then. */
export interface RawAnswer {
  readonly bytes: Buffer;
  readonly then: 'keep' | 'end' | 'reset';
  /** A whole, undamaged 2xx: the attempt that gets it has delivered. */
  readonly mustSucceed: boolean;
}

const answer = (head: string, body: Buffer | string = ''): Buffer =>
  Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)]);

const OK = 'HTTP/1.1 200 OK';

/** Answers of receivers that have taken the event. */
const ACCEPTING: readonly [Buffer, ...Buffer[]] = [
  answer(`${OK}\r\ncontent-length: 2`, 'ok'),
  answer('HTTP/1.1 204 No Content'),
  answer(`${OK}\r\ntransfer-encoding: chunked`, '2\r\nok\r\n0\r\n\r\n'),
  answer('HTTP/1.0 200 OK\r\nconnection: close', 'until the end'),
  Buffer.concat([answer('HTTP/1.1 103 Early Hints\r\nlink: <x>'), answer(`${OK}\r\ncontent-length: 0`)]),
];

/** Answers as receivers give them, of which mutants are made. */
const VALID: readonly [Buffer, ...Buffer[]] = [
  ...ACCEPTING,
  answer('HTTP/1.1 503 Unavailable\r\nretry-after: 1\r\ncontent-length: 0'),
  answer('HTTP/1.1 429 Slow Down\r\nretry-after: Wed, 21 Oct 2026 07:28:00 GMT\r\ncontent-length: 0'),
  answer('HTTP/1.1 302 Found\r\nlocation: https://localhost:1/elsewhere\r\ncontent-length: 0'),
];

const STATUS_LINES: readonly [string, ...string[]] = [
  'HTTP/1.1 000 Zero',
  'HTTP/1.1 099 Low',
  'HTTP/1.1 100 Continue',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x',
  'HTTP/1.1 199 Odd',
  'HTTP/1.1 205 Reset',
  'HTTP/1.1 206 Partial',
  'HTTP/1.1 226 IM Used',
  'HTTP/1.1 299 Odd',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 600 High',
  'HTTP/1.1 999 High',
  'HTTP/1.1 1000 Long',
  'HTTP/1.1 -200 Minus',
  'HTTP/1.1 2OO OK',
  'HTTP/1.1  200 OK',
  'HTTP/1.1\t200',
  'HTTP/1.1 200',
  'HTTP/2 200 OK',
  'HTTP/0.9 200 OK',
  'HTTP/11 200 OK',
  'ICY 200 OK',
  'http/1.1 200 OK',
  `HTTP/1.1 200 ${'r'.repeat(20_000)}`,
  'HTTP/1.1 200 \x00\xff',
  '',
];

const HEADER_LINES: readonly [string, ...string[]] = [
  'content-length: -1',
  'content-length: 99999999999999999999',
  'content-length: 2\r\ncontent-length: 3',
  'content-length: 2\r\ntransfer-encoding: chunked',
  'content-length: x',
  'transfer-encoding: gzip',
  'no colon',
  ': no name',
  'folded: a\r\n b',
  'nul: \x00',
  'trailer: x',
  'set-cookie: a=b',
  'connection: upgrade\r\nupgrade: h2c',
  'content-encoding: gzip',
  'retry-after: -1',
  'retry-after: 99999999999999999999',
  'retry-after: 1e9',
  'retry-after: Thu, 01 Jan 1970 00:00:00 GMT',
  'retry-after: Fri, 31 Dec 9999 23:59:59 GMT',
  'retry-after: abc',
  `long: ${'h'.repeat(20_000)}`,
  Array.from({ length: 3_000 }, (_, index) => `h${index}: 1`).join('\r\n'),
];

const BODIES: readonly [Buffer, ...Buffer[]] = [
  Buffer.alloc(1_048_576, 'b'),
  gzipSync(Buffer.alloc(4 * 1_048_576)),
  Buffer.from('ffffffffffffffff\r\nx'),
  Buffer.from('-1\r\n\r\n'),
  Buffer.from(`1;${'e'.repeat(40_000)}\r\nx\r\n0\r\n\r\n`),
  Buffer.from('1\r\nx\r\n'.repeat(20_000)),
  Buffer.from('0\r\nx: 1\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
];

type Making = (random: Random) => Buffer;

const MAKINGS: readonly [Making, ...Making[]] = [
  (random) => mutateBytes(random, random.pick(VALID)),
  (random) => mutateBytes(random, random.pick(VALID)),
  (random) => {
    const whole = random.pick(VALID);
    return whole.subarray(0, random.int(0, whole.length));
  },
  (random) => answer(`${random.pick(STATUS_LINES)}\r\ncontent-length: 0`),
  (random) => answer(`HTTP/1.1 ${random.int(200, 599)} Any\r\n${random.pick(HEADER_LINES)}`, 'ok'),
  (random) => answer(`HTTP/1.1 503 No\r\n${random.pick(HEADER_LINES)}\r\ncontent-length: 0`),
  (random) => answer(`HTTP/1.1 ${random.int(100, 599)} Any\r\ncontent-length: 2`, 'ok'),
  (random) => answer(`${OK}\r\ntransfer-encoding: chunked`, random.pick(BODIES)),
  (random) => answer(`${OK}\r\ncontent-length: ${random.int(0, 10_000_000)}`, random.pick(BODIES)),
  (random) =>
    Buffer.concat([
      ...Array.from({ length: random.pick([1, 20, 3_000]) }, () => answer('HTTP/1.1 100 Continue')),
      random.pick(VALID),
    ]),
  (random) => Buffer.concat([random.pick(VALID), random.pick(VALID)]),
  (random) => Buffer.from(random.pick(NASTY_TEXTS)),
];

/** Silence after an answer that is not complete is waited for as long as an attempt may take: few may do that. */
const KEEP_ONE_OF = 25;
/** Of so many answers one is not damaged. */
const ACCEPTING_ONE_OF = 10;

/** What a receiver answers to one request: mutated, cut, flooded, or nonsense; now and then a good answer. */
export function makeAnswer(random: Random): RawAnswer {
  if (random.int(1, ACCEPTING_ONE_OF) === 1)
    return { bytes: random.pick(ACCEPTING), then: 'end', mustSucceed: true };
  const bytes = random.pick(MAKINGS)(random);
  if (random.int(1, KEEP_ONE_OF) === 1) return { bytes, then: 'keep', mustSucceed: false };
  return { bytes, then: random.pick(['end', 'end', 'reset']), mustSucceed: false };
}

/** The parser (llhttp) knows the versions 0.9 and 2.0 too, with which no real receiver answers. */
const INFORMATIONAL = /^HTTP\/(?:1\.[01]|0\.9|2\.0) [01]\d\d/;
const ACCEPTED = /^HTTP\/(?:1\.[01]|0\.9|2\.0) 2\d\d(?![^ \r\n])/;

/** Whether its first final answer, behind heads with 1xx, is one with 2xx (RFC 9112 §4): nothing else may count as delivered. */
export function maySucceed({ bytes }: Pick<RawAnswer, 'bytes'>): boolean {
  const heads = bytes
    .toString('latin1')
    .replace(/^[\r\n]+/, '')
    .split(/(?:\r?\n){2,}/);
  return ACCEPTED.test(heads.find((head) => !INFORMATIONAL.test(head)) ?? '');
}
