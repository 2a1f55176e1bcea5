import { openStrangeAuthority } from '@webhooks/testkit';
import { reasonsOf } from '../support/caller.js';
import type { Caller } from '../support/caller.js';
import { inDays, issuePair } from '../support/issue-pair.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let ref: string;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi({ ENDPOINT_CONCURRENCY: '8', SIGNATURE_VENDOR: 'Acme' });
});
beforeEach(async () => {
  acme = await api.tenant();
  const endpointUrl = 'https://hook.acme.com.br/pix';
  ref = String((await acme.post({ eventType: 'PIX_STATIC', endpointUrl })).body['ref']);
});
afterAll(() => api.stop());

describe('a delivery policy is refused', () => {
  const many = (count: number, from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${from + index}`, 'value']));

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['a time-out below a second', { timeoutMs: 999 }, 'timeoutMs must be >= 1000'],
    ['one above 30 s', { timeoutMs: 30_001 }, 'timeoutMs must be <= 30000'],
    ['part of a millisecond', { timeoutMs: 1_000.5 }, 'timeoutMs must be integer'],
    ['more attempts than a worker makes', { maxConcurrency: 9 }, 'maxConcurrency must be <= 8'],
    ['no attempt at all', { maxConcurrency: 0 }, 'maxConcurrency must be >= 1'],
    ['another format', { format: 'xml' }, 'format must be one of standard, bacen'],
    ['no wait', { retryDelays: [] }, 'retryDelays must NOT have fewer than 1 items'],
    [
      '21 waits',
      { retryDelays: Array.from({ length: 21 }, () => '1s') },
      'retryDelays must NOT have more than 20 items',
    ],
    ['a wait in words', { retryDelays: ['soon'] }, 'retryDelays.0 must be a delay such as 30s, 5m or 1h'],
    [
      'a wait below a second',
      { retryDelays: ['1s', '999ms'] },
      'retryDelays must be from 1s to 24h each, and at most 7 days in sum',
    ],
    [
      'a wait above a day',
      { retryDelays: ['25h'] },
      'retryDelays must be from 1s to 24h each, and at most 7 days in sum',
    ],
    [
      'more than a week',
      { retryDelays: [...Array.from({ length: 7 }, () => '1d'), '1s'] },
      'retryDelays must be from 1s to 24h each, and at most 7 days in sum',
    ],
    ['an unknown member', { maxPerSecond: 5 }, 'maxPerSecond is not a known field'],
    ['a null that means nothing', { timeoutMs: null }, 'timeoutMs must be integer'],
    ['11 headers', { headers: many(11) }, 'headers must be at most 10, together with those already stored'],
    [
      'a header name that is no token',
      { headers: { 'X Y': 'a' } },
      'headers must have names of 1 to 64 token characters',
    ],
    [
      'a name of 65 characters',
      { headers: { ['x'.repeat(65)]: 'a' } },
      'headers must have names of 1 to 64 token characters',
    ],
    [
      'a header that CGI takes for ours',
      { headers: { Webhook_Id: 'a' } },
      'headers.Webhook_Id is reserved: every delivery sets this header',
    ],
    ['a header twice for CGI', { headers: { 'X-A': 'a', x_a: 'b' } }, 'headers.x_a appears twice'],
    ['a header twice', { headers: { 'X-A': 'a', 'x-a': null } }, 'headers.x-a appears twice'],
    ...['', ' padded', 'padded ', 'é', 'a\tb', 'a\r\nHost: b', 'x'.repeat(1_025), 7].map(
      (value): [string, object & Record<string, unknown>, string] => [
        `the value ${JSON.stringify(value).slice(0, 20)}`,
        { headers: { 'X-A': value } },
        'headers.X-A must be 1 to 1024 printable ASCII characters, the first and the last no space',
      ],
    ),
    ...[
      ...[
        'Host',
        'content-type',
        'Content-Length',
        'Connection',
        'transfer-encoding',
        'TE',
        'upgrade',
        'expect',
      ],
      ...[
        'Cookie',
        'traceparent',
        'Proxy-Authorization',
        'keep-alive',
        'trailer',
        'User-Agent',
        'Webhook-Id',
        'x-acme-signature',
      ],
    ].map((name): [string, object & Record<string, unknown>, string] => [
      `the header ${name}`,
      { headers: { [name]: 'value' } },
      `headers.${name} is reserved: every delivery sets this header`,
    ]),
    [
      'a certificate without a key',
      { clientCertificate: { certificate: 'x' } },
      'clientCertificate.key is required',
    ],
    [
      'a certificate that is none',
      { clientCertificate: { certificate: 'x', key: 'y' } },
      'clientCertificate is refused: expected a certificate as PEM',
    ],
    [
      'files of DER that were read as text',
      {
        clientCertificate: {
          certificate: Buffer.from('308203a13082028980030201020214', 'hex').toString(),
          key: Buffer.from('308204bd020100300d06092a864886f70d0101010500', 'hex').toString(),
        },
      },
      'clientCertificate contains DER: convert the certificate and the key to PEM',
    ],
    [
      'a key that costs a worker too much',
      { clientCertificate: { certificate: 'x', key: 'y'.repeat(4_097) } },
      'clientCertificate.key must NOT have more than 4096 characters',
    ],
    [
      'more than 16 KiB',
      { clientCertificate: { certificate: 'x'.repeat(16_000), key: 'y'.repeat(385) } },
      'clientCertificate must be at most 16384 bytes with its key',
    ],
  ])('with %s', async (_, body, reason) => {
    const answer = await acme.putPolicy(ref, body);
    expect([answer.status, ...reasonsOf(answer)]).toEqual([422, reason]);
    expect((await acme.policy(ref)).body).toEqual({});
  });

  it('with a certificate of another key, or one that is not valid now', async () => {
    const [one, other] = [await issuePair({ notAfter: inDays(9) }), await issuePair({ notAfter: inDays(8) })];
    const put = async (clientCertificate: object) =>
      reasonsOf(await acme.putPolicy(ref, { clientCertificate })).join();
    expect(await put({ ...one, key: other.key })).toMatch(/refused: expected the key of the certificate/);
    expect(await put(await issuePair({ notBefore: inDays(-9), notAfter: inDays(-1) }))).toMatch(/valid now/);
    expect(await put(await issuePair({ notBefore: inDays(1) }))).toMatch(/valid now/);
  });

  it('with more than ten headers, kept ones included, but not when ten are removed for ten new ones', async () => {
    expect((await acme.putPolicy(ref, { headers: many(10) })).status).toBe(200);
    expect(reasonsOf(await acme.putPolicy(ref, { headers: many(1, 10) }))).toEqual([
      'headers must be at most 10, together with those already stored',
    ]);
    const gone = Object.fromEntries(Object.keys(many(10)).map((name) => [name, null]));
    const { body } = await acme.putPolicy(ref, { headers: { ...gone, ...many(10, 10) } });
    expect(Object.keys(body['headers'] as object)).toEqual(Object.keys(many(10, 10)));
  });

  it('but not for ten headers and a long chain', async () => {
    const { certificate, key } = await issuePair();
    const { caPem } = await openStrangeAuthority();
    const times = Math.floor((16_384 - certificate.length - key.length) / caPem.length);
    const chain = certificate + caPem.repeat(times);
    const name = (index: number) => `X-${index}`.padEnd(64, 'x');
    const headers = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [name(index), '"'.repeat(1_024)]),
    );
    const clientCertificate = { certificate: chain, key };
    expect((await acme.putPolicy(ref, { headers, clientCertificate })).status).toBe(200);
    const shown = Object.entries((await acme.policy(ref)).body['headers'] as object);
    expect(shown).toEqual(Object.keys(headers).map((one) => [one, { endsWith: '"'.repeat(4) }]));
  });
});
