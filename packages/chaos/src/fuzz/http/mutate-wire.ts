import type { Random } from '@webhooks/testkit';
import { mutateBytes } from '../mutants/mutate-bytes.js';
import { NASTY_TEXTS } from '../mutants/nasty.js';
import { renderFramed, renderRequest } from './request.js';
import type { Draft, FuzzRequest, Template } from './request.js';

type Mutation = (template: Template, random: Random) => Buffer;

/** Targets that are none of origin form (RFC 9112 §3.2), or hold what a target must not. */
const TARGETS: readonly [string, ...string[]] = [
  '*',
  '//',
  '///evil.example/integration/v1/events',
  'http://',
  'http:///',
  'http://[::1',
  'http://[]/',
  'http://a:99999/integration/v1/webhooks',
  'http://a b/',
  'http://%/integration',
  'http://\xff/integration',
  'https://user:pass@evil.example:0/integration/v1/webhooks?x=1#y',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'integration/v1/webhooks',
  '/\xa0',
  '/\xff\xfe',
  '/integration/v1/webhooks#x',
  '/integration/v1/webhooks\\..\\x',
  '/\t',
  `/${'a'.repeat(15_000)}`,
  '?',
  '#',
];

const chunk = (body: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`${Buffer.byteLength(body).toString(16)}\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ]);

const CHUNKED = ['Transfer-Encoding', 'chunked'] as const;
const LAST = Buffer.from('0\r\n\r\n');

const inChunks: Mutation = (template, random) => {
  const at = random.int(0, template.body.length);
  const parts = [template.body.subarray(0, at), template.body.subarray(at)].filter(
    ({ length }) => length > 0,
  );
  return renderFramed(template, [CHUNKED], Buffer.concat([...parts.map(chunk), LAST]));
};

const brokenChunks: Mutation = (template, random) =>
  renderFramed(
    template,
    [CHUNKED],
    random.pick([
      Buffer.from('zz\r\nab\r\n0\r\n\r\n'),
      Buffer.from('-1\r\n\r\n'),
      Buffer.from('ffffffffffffffff\r\nab'),
      Buffer.from('5;x=y\r\nabcde\r\n0\r\nx-trailer: 1\r\n\r\n'),
      Buffer.from(`2;${'e'.repeat(20_000)}\r\nab\r\n0\r\n\r\n`),
      Buffer.from('2\r\nabc\r\n0\r\n\r\n'),
      Buffer.concat(Array.from({ length: 3_000 }, () => chunk('x'))),
      Buffer.from('0\r\n'),
    ]),
  );

const otherLength: Mutation = (template, random) => {
  const length = template.body.length;
  const values: readonly [readonly [string, ...string[]], ...(readonly [string, ...string[]])[]] = [
    [String(length + 10)],
    [String(Math.max(0, length - 3))],
    ['-1'],
    ['1e3'],
    ['99999999999999999999'],
    ['0x10'],
    [''],
    ['+5'],
    [String(length), String(length + 1)],
    [`${length}, ${length}`],
  ];
  const framing = random.pick(values).map((value) => ['Content-Length', value] as const);
  return renderFramed(template, random.chance(0.3) ? [...framing, CHUNKED] : framing, template.body);
};

const otherTarget: Mutation = (template, random) =>
  renderRequest({ ...template, target: random.pick(TARGETS) });

const withLine = (template: Draft, line: string): Buffer => {
  const text = renderRequest(template).toString('latin1');
  return Buffer.from(text.replace('\r\n', `\r\n${line}\r\n`), 'latin1');
};

const brokenLine: Mutation = (template, random) =>
  withLine(
    template,
    random.pick([
      'no colon',
      ': no name',
      'spa ce: x',
      'a\0b: c',
      'folded: a\r\n b',
      'bare: a\nb: c',
      'bare: a\rb',
      'Host: other.example',
      'Connection: upgrade\r\nUpgrade: websocket',
      'Connection: close, keep-alive, te, content-length',
      'Transfer-Encoding: gzip, chunked',
      'Transfer-Encoding: \x0bchunked',
      Buffer.from(`x: ${random.pick(NASTY_TEXTS)}`).toString('latin1'),
      Array.from({ length: 1_500 }, (_, index) => `h${index}: 1`).join('\r\n'),
    ]),
  );

const otherProtocol: Mutation = (template, random) => {
  const text = renderRequest(template).toString('latin1');
  const version = random.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.1 x', 'http/1.1', '']);
  return Buffer.from(text.replace('HTTP/1.1', version), 'latin1');
};

const NO_HTTP: readonly [Buffer, ...Buffer[]] = [
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
  Buffer.from('\r\n\r\n\r\n'),
  Buffer.from('CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n'),
  Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  Buffer.alloc(70_000, 'A'),
  Buffer.alloc(0),
];

const twice: Mutation = (template, random) => {
  const bytes = renderRequest(template);
  return Buffer.concat([bytes, random.chance(0.5) ? bytes : mutateBytes(random, bytes)]);
};

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  inChunks,
  brokenChunks,
  otherLength,
  otherTarget,
  otherTarget,
  brokenLine,
  otherProtocol,
  (template, random) => mutateBytes(random, renderRequest(template)),
  (template, random) => mutateBytes(random, renderRequest(template)),
  (template, random) => mutateBytes(random, inChunks(template, random)),
  (_template, random) => random.pick(NO_HTTP),
  twice,
];

/** A mutant that may be no HTTP any more: framing, targets, header lines, protocols, and any byte. */
export const mutateWire = (template: Template, random: Random): FuzzRequest => ({
  bytes: random.pick(MUTATIONS)(template, random),
  method: template.method,
  body: template.body,
  isWire: true,
});
